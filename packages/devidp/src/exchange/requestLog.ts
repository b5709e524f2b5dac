/** One token exchange that was asked for. No value of the form but those that name something. */
export interface RecordedRequest {
  readonly path: string;
  readonly grant: string | undefined;
  /** Names of the form's fields. */
  readonly fields: readonly string[];
  /** As the request says; nothing of it is proven here. */
  readonly client: string | undefined;
  readonly user: string | undefined;
  readonly scope: string | undefined;
  /** The challenge it answers, as it was sent. */
  readonly claims: string | undefined;
  /** Undefined: no answer, or not yet. */
  status: number | undefined;
}

/** What somebody asked for at the authorization endpoint and got. */
export interface RecordedSignIn {
  readonly client: string | undefined;
  readonly user: string | undefined;
  readonly claims: string | undefined;
  readonly prompt: string | undefined;
}

/** What happened, for tests to count. */
export interface RequestLog {
  /** Exchanges, oldest first. */
  readonly entries: readonly RecordedRequest[];
  readonly signIns: readonly RecordedSignIn[];
  /** All of them, or those that fit. */
  count(filter?: Partial<Pick<RecordedRequest, 'client' | 'user' | 'grant' | 'scope' | 'status'>>): number;
  clear(): void;
}

/** Older ones are forgotten: a provider that runs for weeks must not grow. */
const MAX_ENTRIES = 20_000;

export interface WritableRequestLog extends RequestLog {
  add(request: RecordedRequest): void;
  addSignIn(signIn: RecordedSignIn): void;
}

export function createRequestLog(): WritableRequestLog {
  const entries: RecordedRequest[] = [];
  const signIns: RecordedSignIn[] = [];
  const append = <T>(list: T[], item: T) => {
    list.push(item);
    if (list.length > MAX_ENTRIES) list.shift();
  };
  return {
    entries,
    signIns,
    count: (filter = {}) =>
      entries.filter((entry) =>
        Object.entries(filter).every(([name, value]) => entry[name as keyof RecordedRequest] === value),
      ).length,
    clear() {
      entries.length = 0;
      signIns.length = 0;
    },
    add: (request) => append(entries, request),
    addSignIn: (signIn) => append(signIns, signIn),
  };
}

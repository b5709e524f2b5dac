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
  readonly all: readonly RecordedRequest[];
  readonly signIns: readonly RecordedSignIn[];
  /** All of them, or those that fit. */
  count(where?: Partial<Pick<RecordedRequest, 'client' | 'user' | 'grant' | 'scope' | 'status'>>): number;
  clear(): void;
}

/** Older ones are forgotten: a provider that runs for weeks must not grow. */
const MOST_ENTRIES = 20_000;

export interface WritableLog extends RequestLog {
  add(request: RecordedRequest): void;
  addSignIn(signIn: RecordedSignIn): void;
}

export function createRequestLog(): WritableLog {
  const all: RecordedRequest[] = [];
  const signIns: RecordedSignIn[] = [];
  const keep = <T>(list: T[], item: T) => {
    list.push(item);
    if (list.length > MOST_ENTRIES) list.shift();
  };
  return {
    all,
    signIns,
    count: (where = {}) =>
      all.filter((entry) =>
        Object.entries(where).every(([name, value]) => entry[name as keyof RecordedRequest] === value),
      ).length,
    clear() {
      all.length = 0;
      signIns.length = 0;
    },
    add: (request) => keep(all, request),
    addSignIn: (signIn) => keep(signIns, signIn),
  };
}

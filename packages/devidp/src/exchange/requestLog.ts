/** A recorded token exchange. Contains identifying form values only. */
export interface RecordedRequest {
  readonly path: string;
  readonly grant: string | undefined;
  /** Names of the form fields. */
  readonly fields: readonly string[];
  /** As the request claims, not verified. */
  readonly client: string | undefined;
  readonly user: string | undefined;
  readonly scope: string | undefined;
  /** The `claims` parameter. */
  readonly claims: string | undefined;
  /** Undefined until a response was sent. */
  status: number | undefined;
}

/** A recorded request at the authorization endpoint. */
export interface RecordedSignIn {
  readonly client: string | undefined;
  readonly user: string | undefined;
  readonly claims: string | undefined;
  readonly prompt: string | undefined;
}

/** Recorded requests, for assertions in tests. */
export interface RequestLog {
  /** Exchanges, oldest first. */
  readonly entries: readonly RecordedRequest[];
  readonly signIns: readonly RecordedSignIn[];
  /** Counts the requests that match the filter. */
  count(filter?: Partial<Pick<RecordedRequest, 'client' | 'user' | 'grant' | 'scope' | 'status'>>): number;
  clear(): void;
}

/** Limits memory. The oldest entries are dropped. */
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

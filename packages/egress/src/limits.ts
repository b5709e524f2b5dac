/** Milliseconds. Each one is a typed error of its own. */
export interface Timeouts {
  /** DNS, TCP, the proxy's hand-shake and TLS of a new connection. */
  readonly connectMs: number;
  /** From sending a request to the first byte of its answer; a new connection counts. */
  readonly headersMs: number;
  /** The whole exchange with its redirects. An event stream is open-ended: for it this ends with the headers. */
  readonly totalMs: number;
  /** The longest silence within a body. */
  readonly idleMs: number;
}

export interface Limits {
  /** A body that is not an event stream, and one single event of a stream. */
  readonly bodyBytes: number;
  /** One line of an event stream. */
  readonly sseLineBytes: number;
}

export const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  headersMs: 60_000,
  totalMs: 300_000,
  idleMs: 300_000,
};
export const defaultLimits: Limits = { bodyBytes: 16 * 1024 * 1024, sseLineBytes: 5 * 1024 * 1024 };

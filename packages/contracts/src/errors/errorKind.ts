/** What every exit needs to know of an error. A code without all of them does not compile. */
export interface ErrorKind {
  /** HTTP status; the JSON-RPC number follows from it. */
  status: number;
  /** What happened, in words that fit any occurrence. */
  title: string;
  /** What to do about it. */
  action: string;
}

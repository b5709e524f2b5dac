/**
 * `asked`: by its user. `left`: nobody reads it any more. `late`: it took too long. `shutdown`: the process ends. `lost`:
 * another replica may be writing an answer in the same conversation.
 */
export type StopReason = 'asked' | 'left' | 'late' | 'shutdown' | 'lost';

/** Why an answer ended before it was finished: the reason of its signal. */
export class Stopped extends Error {
  override readonly name = 'AbortError';
  readonly why: StopReason;
  constructor(why: StopReason) {
    super('The answer was stopped');
    this.why = why;
  }
}

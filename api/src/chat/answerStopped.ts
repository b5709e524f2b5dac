/**
 * `asked`: by its user. `left`: nobody reads it any more. `late`: it took too long. `shutdown`: the process ends. `lost`:
 * another replica may be writing an answer in the same conversation.
 */
export type StopReason = 'requested' | 'disconnected' | 'timeout' | 'shutdown' | 'lease_lost';

/** Why an answer ended before it was finished: the reason of its signal. */
export class AnswerStopped extends Error {
  override readonly name = 'AbortError';
  readonly reason: StopReason;
  constructor(reason: StopReason) {
    super('The answer was stopped');
    this.reason = reason;
  }
}

import type { ChatCall } from '@behalf/contracts';

export type CallWord = ChatCall['state'];

/** A call that nobody waits for any more has ended somehow; what came of it was not kept. */
export function shownState(state: CallWord, isLive: boolean): CallWord {
  return !isLive && (state === 'running' || state === 'waiting') ? 'cancelled' : state;
}

import type { ChatCall } from '@behalf/contracts';

export type CallStateName = ChatCall['state'];

/** A call that nobody waits for any more has ended somehow; what came of it was not kept. */
export function displayedState(state: CallStateName, isLive: boolean): CallStateName {
  return !isLive && (state === 'running' || state === 'waiting') ? 'cancelled' : state;
}

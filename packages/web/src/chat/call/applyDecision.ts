import type { CallState } from '../session/messages.ts';

/** A call after its user's word. How it ends comes with the stream, and may have come before the answer to that word. */
export function applyDecision(state: CallState, approve: boolean): CallState {
  const { call } = state;
  if (call.state !== 'waiting') return state;
  return { call: { ...call, state: approve ? 'running' : 'denied' } };
}

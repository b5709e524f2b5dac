import type { ChatCall, RunState, StepState, ToolsView } from '@behalf/contracts';
import type { Tone } from './Badge.tsx';

type State = ToolsView['servers'][string]['state'];

/** The color of a server state. */
export const serverStateTones: Readonly<Record<State, Tone>> = {
  connected: 'success',
  unreachable: 'danger',
  needs_authorization: 'warning',
  needs_configuration: 'warning',
};

/** The color of a call state. `refused`: there is no response of the tool. `held`: a sign-in is missing. */
export const callTones: Readonly<Record<ChatCall['state'] | 'refused' | 'held', Tone>> = {
  running: 'info',
  waiting: 'warning',
  held: 'warning',
  done: 'success',
  failed: 'danger',
  refused: 'danger',
  denied: 'neutral',
  cancelled: 'neutral',
};

export const runTones: Readonly<Record<RunState | StepState, Tone>> = {
  pending: 'neutral',
  running: 'info',
  waiting: 'warning',
  interrupted: 'warning',
  uncertain: 'danger',
  failed: 'danger',
  cancelled: 'neutral',
  succeeded: 'success',
};

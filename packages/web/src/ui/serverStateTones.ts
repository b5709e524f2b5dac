import type { ToolsView } from '@behalf/contracts';
import type { Tone } from './Badge.tsx';

type State = ToolsView['servers'][string]['state'];

/** What colour goes with the state of a server. */
export const serverStateTones: Readonly<Record<State, Tone>> = {
  connected: 'success',
  unreachable: 'danger',
  needs_authorization: 'warning',
  needs_configuration: 'warning',
};

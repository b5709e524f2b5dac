import type { ChatCall } from '@behalf/contracts';
import type { Tone } from '../ui/Badge.tsx';

/** How the states of a call look. `refused`: there is no answer of the tool. `held`: a sign-in is missing. */
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

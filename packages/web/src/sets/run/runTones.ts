import type { RunState, StepState } from '@behalf/contracts';
import type { Tone } from '../../ui/Badge.tsx';

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

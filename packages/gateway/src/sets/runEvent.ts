import { actorOf, type AuditEvent } from '../audit/audit.ts';
import type { RunInbound } from './parts.ts';
import type { SetRun } from './sealedRuns.ts';

/** How a run ended, or stopped, as it is written down: beside the events of its steps, which name it as their request. */
export function createRunEvent(
  { principal, door }: RunInbound,
  { id, setId, state, steps }: Pick<SetRun, 'id' | 'setId' | 'state' | 'steps'>,
): AuditEvent {
  const code = steps.find((step) => step.state !== 'succeeded')?.code;
  return {
    ...{ kind: 'call', action: 'set.run', tenant: principal.tenant, actor: actorOf(principal), door },
    ...{ outcome: outcomes[state], subject: setId, request: id },
    ...(state !== 'succeeded' && code !== undefined && { code }),
  };
}

const outcomes: Readonly<Record<SetRun['state'], AuditEvent['outcome']>> = {
  // It stopped without an end that anybody could write down.
  running: 'uncertain',
  waiting: 'refused',
  uncertain: 'uncertain',
  failed: 'failed',
  cancelled: 'refused',
  succeeded: 'ok',
};

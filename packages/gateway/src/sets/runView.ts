import type { RunState, RunStepView, RunSummary, RunView } from '@behalf/contracts';
import type { Leases } from '@behalf/kernel';
import type { SetRun, RunOverview } from './sealedRuns.ts';

/** With its user in it: who guesses the id of somebody else's run cannot hold it. */
export function getRunLeaseKey({ tenant, userId, id }: Pick<SetRun, 'tenant' | 'userId' | 'id'>): string {
  return JSON.stringify(['run', tenant, userId, id]);
}

/** What is written, unless whoever was at it is gone. */
export async function getRunState(leases: Pick<Leases, 'findHolder'>, run: RunOverview): Promise<RunState> {
  if (run.state !== 'running') return run.state;
  return (await leases.findHolder(getRunLeaseKey(run))) ? 'running' : 'interrupted';
}

function pickCommonFields(run: RunOverview, state: RunState) {
  const { id, setId, title, createdAt, updatedAt, expiresAt } = run;
  const isCancelling = run.isCancelling && state === 'running';
  return { id, set: setId, title, state, isCancelling, createdAt, updatedAt, expiresAt };
}

export function toRunSummary(run: RunOverview, state: RunState): RunSummary {
  return { ...pickCommonFields(run, state), done: run.done, total: run.total };
}

export function toRunView(run: SetRun, state: RunState): RunView {
  return {
    ...pickCommonFields(run, state),
    resumable: isResumable(run, state),
    steps: run.steps.map(toStepView),
  };
}

/** Of an interrupted one nobody knows more yet: resuming it may end with that a step is uncertain. */
export function isResumable({ steps }: Pick<SetRun, 'steps'>, state: RunState): boolean {
  if (state === 'waiting' || state === 'interrupted') return true;
  if (state !== 'failed' && state !== 'uncertain') return false;
  return steps.find((step) => step.state !== 'succeeded')?.mayGoOn === true;
}

/** Field by field: what a run was given is kept, and not shown. */
export function toStepView(step: SetRun['steps'][number]): RunStepView {
  const { key, block, title, server, tool, state, startedAt, endedAt } = step;
  const { code, errors, wait, result, isResultLost } = step;
  return {
    ...{ key, block, title, server, tool, state, startedAt, endedAt },
    ...(code !== undefined && { code }),
    ...(errors && { errors }),
    ...(wait && { wait }),
    ...(result && { result }),
    ...(isResultLost && { isResultLost }),
  };
}

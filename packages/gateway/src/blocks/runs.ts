import type { RunState, RunStepView, RunSummary, RunView } from '@behalf/contracts';
import type { Cancellation, Leases } from '@behalf/kernel';
import type { ApiKeyStore, SessionStore } from '../ports/index.ts';
import type { Principal, UserPrincipal } from '../principal/principal.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import type { CallOutcome } from '../toolcall/outcome.ts';
import type { BlockParts } from './runBlock.ts';
import type { SavedCollection } from './saved.ts';
import type { BlockSet, RunOverview, SealedRuns, SetRun } from './store.ts';

/** The request of a user. A service cannot own runs. */
export type RunInbound = Inbound & { readonly principal: UserPrincipal };

/** The call of one step. */
interface StepCall {
  readonly principal: Principal;
  readonly server: string;
  /** For the log. */
  readonly description: string;
  readonly signal: Cancellation;
}

/** Counts a step like a call of an adapter: rate limit, concurrency, metrics. Throws before `work` if a limit is reached. */
export type MeterStep = (call: StepCall, work: () => Promise<CallOutcome>) => Promise<CallOutcome>;

/** The dependencies of sets and their runs. */
export interface SetParts extends BlockParts {
  readonly sets: SavedCollection<BlockSet>;
  readonly runs: SealedRuns;
  /** To check, before each step, that the credential with which the run was started is still valid. */
  readonly authenticationStores: {
    readonly sessions: Pick<SessionStore, 'filterActive'>;
    readonly apiKeys: Pick<ApiKeyStore, 'filterActive'>;
  };
  readonly meterStep: MeterStep;
}

/** The worker of a run holds this lease. The key contains the user, so that a guessed run id cannot block another user's run. */
export function getRunLeaseKey({ tenant, userId, id }: Pick<SetRun, 'tenant' | 'userId' | 'id'>): string {
  return JSON.stringify(['run', tenant, userId, id]);
}

/** The stored state; `interrupted` if the run is `running` but no worker holds its lease. */
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

/** An interrupted run counts as resumable, although resuming it may find that a step has an unknown outcome. */
export function isResumable({ steps }: Pick<SetRun, 'steps'>, state: RunState): boolean {
  if (state === 'waiting' || state === 'interrupted') return true;
  if (state !== 'failed' && state !== 'uncertain') return false;
  return steps.find((step) => step.state !== 'succeeded')?.mayGoOn === true;
}

/** Lists the fields explicitly: the inputs of a run are stored, but not shown. */
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

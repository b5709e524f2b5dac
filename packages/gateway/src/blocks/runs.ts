import {
  type RunState,
  type RunStepView,
  type RunSummary,
  type RunView,
  StoredRun,
  type StoredStep,
} from '@behalf/contracts';
import {
  type Cancellation,
  type Clock,
  type Keyring,
  type Leases,
  type Random,
  SealError,
} from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import {
  type RunMetadata,
  type RunRecord,
  type RunStore,
  toRunSealContext,
  toRunTitleSealContext,
} from '../ports/index.ts';
import type { Principal, UserPrincipal } from '../principal/principal.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import type { CallOutcome } from '../toolcall/outcome.ts';
import type { Log } from '../upstream/upstream.ts';
import type { RunBlockParts } from './runBlock.ts';
import type { RunPrincipalParts } from './runJob.ts';
import type { BlockSets, ReadSavedParts, SavedBlocks, WriteSavedParts } from './store.ts';

/** Of one owner. */
export const MAX_SETS = 100;
/** Of one set, sealed. */
export const MAX_SET_LENGTH = 512 * 1024;
/** Of one user: under way at once, and kept of those that are not. */
const MAX_ACTIVE_RUNS = 20;
const MAX_STORED_RUNS = 100;
export const RUN_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;
/** Of the result of one step, and of those of one run together, as JSON. What is larger is not kept. */
export const MAX_RESULT_LENGTH = 256 * 1024;
export const MAX_TOTAL_RESULT_LENGTH = 1024 * 1024;
/** What a run is given, as JSON: with the results well below what a store takes of one record. */
export const MAX_RUN_INPUT_LENGTH = 512 * 1024;
/** For how long a run belongs to a process that does not say otherwise any more, and how often it does. */
export const RUN_LEASE_MS = 20_000;
export const HEARTBEAT_MS = 3_000;

/** Who asks: a user. A program has nobody whose runs these could be. */
export type RunInbound = Inbound & { readonly principal: UserPrincipal };

export interface ViewSetParts extends ReadSavedParts {
  readonly sets: BlockSets;
}

/** What saving and sharing sets needs. */
export interface SaveSetParts extends WriteSavedParts {
  readonly sets: BlockSets;
  readonly blocks: SavedBlocks;
}

/** One step on its way to a server. */
interface StepCall {
  readonly principal: Principal;
  readonly server: string;
  /** For the log. */
  readonly description: string;
  readonly signal: Cancellation;
}

/** What a call costs and how it is counted, at whichever door it comes in. May refuse before it begins. */
export type MeterStep = (call: StepCall, work: () => Promise<CallOutcome>) => Promise<CallOutcome>;

/** What running them needs. */
export interface RunSetParts extends RunBlockParts, RunPrincipalParts {
  readonly sets: BlockSets;
  readonly runs: SealedRuns;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly random: Random;
  readonly meterStep: MeterStep;
}

/** A run with its steps. */
export interface SetRun extends Omit<RunRecord, 'sealed' | 'titleSealed'>, StoredRun {}

type RunOverview = Omit<SetRun, 'steps' | 'request'>;

/** The runs of people, each opened for who ran it and nobody else. One that does not open is not there. */
export interface SealedRuns {
  find(tenant: string, userId: string, id: string): Promise<SetRun | null>;
  /** How it stands now, without opening it. */
  findMetadata(tenant: string, userId: string, id: string): Promise<RunMetadata | null>;
  /** The latest first. */
  list(tenant: string, userId: string, setId: string): Promise<RunOverview[]>;
  /** This user's that stand as running, without opening them. */
  listRunning(tenant: string, userId: string): Promise<RunMetadata[]>;
  /** RUN_LIMIT when its user has too many under way. The oldest that ended make room. */
  insert(run: SetRun): Promise<void>;
  /** With the version that it has then; null when somebody else wrote it, or it is gone. */
  replace(run: SetRun): Promise<SetRun | null>;
  sweep(now: number): Promise<number>;
}

export function createSealedRuns(parts: {
  readonly store: RunStore;
  readonly keyring: Keyring;
  readonly log: Log;
}): SealedRuns {
  const { store, keyring, log } = parts;

  function seal(run: SetRun): RunRecord {
    const { title, steps, request, ...record } = run;
    const content = StoredRun.parse({ title, steps, request });
    return {
      ...record,
      titleSealed: keyring.seal(JSON.stringify(title), toRunTitleSealContext(run)),
      sealed: keyring.seal(JSON.stringify(content), toRunSealContext(run)),
    };
  }

  /** Null, and a line in the log, for what does not open or is not what we sealed. */
  function tryOpen<T>({ id, userId }: RunMetadata, work: () => T): T | null {
    try {
      return work();
    } catch (error) {
      const reason = error instanceof SealError ? error.reason : 'unreadable';
      log('run_unreadable', { run: id, user: userId, reason });
      return null;
    }
  }

  return {
    async find(tenant, userId, id) {
      const stored = await store.find(tenant, userId, id);
      if (!stored) return null;
      const { sealed, titleSealed: _title, ...record } = stored;
      return tryOpen(stored, () => ({
        ...record,
        ...StoredRun.parse(JSON.parse(keyring.open(sealed, toRunSealContext(stored)))),
      }));
    },
    findMetadata: (tenant, userId, id) => store.findMetadata(tenant, userId, id),
    async list(tenant, userId, setId) {
      return (await store.list(tenant, userId, setId)).flatMap((metadata) => {
        const { titleSealed, ...record } = metadata;
        const title = tryOpen(
          metadata,
          () => JSON.parse(keyring.open(titleSealed, toRunTitleSealContext(metadata))) as string,
        );
        return title === null ? [] : [{ ...record, title }];
      });
    },
    listRunning: (tenant, userId) => store.listRunning(tenant, userId),
    async insert(run) {
      if ((await store.insert(seal(run), MAX_ACTIVE_RUNS)) === 'full') throw new GatewayError('RUN_LIMIT');
      await store.prune(run.tenant, run.userId, MAX_STORED_RUNS);
    },
    async replace(run) {
      const next = { ...run, version: run.version + 1 };
      return (await store.replace(seal(next), run.version)) === 'replaced' ? next : null;
    },
    sweep: (now) => store.removeExpired(now),
  };
}

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

interface OrphanedRunParts {
  readonly runs: SealedRuns;
  readonly leases: Pick<Leases, 'acquire'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Whether a step that was under way when its replica went may run again. */
type CanRetryStep = (step: StoredStep) => Promise<boolean>;

/**
 * Runs that nobody is at still stand as running, and would keep their user from running anything. They are written down as what
 * they are: a step that was under way is uncertain; where none was, the run can go on.
 */
export async function settleOrphanedRuns(
  { runs, leases, clock }: OrphanedRunParts,
  { tenant, userId }: UserPrincipal,
  canRetryStep: CanRetryStep,
): Promise<void> {
  for (const metadata of await runs.listRunning(tenant, userId)) {
    const lease = await leases.acquire(getRunLeaseKey(metadata), 'run', RUN_LEASE_MS);
    if (!lease) continue;
    try {
      const run = await runs.find(tenant, userId, metadata.id);
      if (run?.state === 'running') await runs.replace(await toStopped(run));
    } finally {
      await lease.release().catch(() => false);
    }
  }

  async function toStopped(run: SetRun): Promise<SetRun> {
    const next = run.steps[run.done];
    const wasRunning = next?.state === 'running';
    const mayGoOn = next !== undefined && (!wasRunning || (await canRetryStep(next)));
    const now = clock.now();
    const endFields = wasRunning ? { state: 'uncertain' as const, endedAt: now } : {};
    const steps = run.steps.map((step) => (step === next ? { ...step, ...endFields, mayGoOn } : step));
    const state = run.isCancelling ? 'cancelled' : wasRunning ? 'uncertain' : next ? 'failed' : 'succeeded';
    return { ...run, state, steps, isCancelling: false, worker: '', updatedAt: now };
  }
}

/** Writes a run that begins. RUN_LIMIT when its user has too many under way, those that nobody is at not counted. */
export async function insertRun(
  runs: SealedRuns,
  run: SetRun,
  settleOrphans: () => Promise<void>,
): Promise<void> {
  try {
    await runs.insert(run);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'RUN_LIMIT') throw error;
    await settleOrphans();
    await runs.insert(run);
  }
}

/**
 * Writes that a run runs again; null when somebody else wrote it. RUN_LIMIT as above, counted after it is one of them: of many that
 * are resumed at once, whoever sees too many takes its own back.
 */
export async function persistResumedRun(
  runs: SealedRuns,
  { previous, next }: { readonly previous: SetRun; readonly next: SetRun },
  settleOrphans: () => Promise<void>,
): Promise<SetRun | null> {
  const exceedsLimit = async () =>
    (await runs.listRunning(next.tenant, next.userId)).length > MAX_ACTIVE_RUNS;
  const resumed = await runs.replace(next);
  if (!resumed || !(await exceedsLimit())) return resumed;
  await settleOrphans();
  if (!(await exceedsLimit())) return resumed;
  await runs.replace({ ...previous, version: resumed.version });
  throw new GatewayError('RUN_LIMIT');
}

import type {
  RunResumeRequest,
  RunView,
  RunsView,
  SetRunRequest,
  SetsQuery,
  StoredStep,
} from '@behalf/contracts';
import { withTimeout } from '@behalf/kernel';
import { type AuditEvent, actorOf } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { acquireLease } from '../replication/withLease.ts';
import { requestFields } from '../toolcall/inbound.ts';
import { checkSteps } from './check.ts';
import {
  createSteps,
  mergeProvided,
  requireExpectedVersions,
  requireInputLimit,
  requireRunnable,
  requireSameBlocks,
  selectProvided,
} from './prepareRun.ts';
import { findBlockToRun } from './runBlock.ts';
import { type RunJob, type RunLease, type RunListener, acquireRunLease, startRunJob } from './runJob.ts';
import { isRetryAllowed } from './runStep.ts';
import {
  type RunInbound,
  type SetParts,
  getRunLeaseKey,
  getRunState,
  isResumable,
  toRunSummary,
  toRunView,
} from './runs.ts';
import { type WriteCondition, requireVersion } from './saved.ts';
import { MAX_ACTIVE_RUNS, type SetRun } from './store.ts';

export interface StartedRun {
  readonly view: RunView;
  /** The run when this replica stops executing it. */
  readonly completion: Promise<RunView>;
}

/** Starts, resumes, cancels and shows runs of sets. A run belongs to the user who started it and continues without a client. */
export interface SetRuns {
  /** SET_INCOMPLETE unless every step would run. VERSION_CONFLICT if the caller read another version of the set or a block. */
  start(
    inbound: RunInbound,
    setId: string,
    request: SetRunRequest & WriteCondition,
    listener?: RunListener,
  ): Promise<StartedRun>;
  /**
   * Continues with the first step that has not succeeded. RUN_BLOCK_CHANGED if a remaining block was changed since the start.
   * RUN_OUTCOME_UNCERTAIN if the next step may have run and must not be repeated.
   */
  resume(
    inbound: RunInbound,
    runId: string,
    request: RunResumeRequest,
    listener?: RunListener,
  ): Promise<StartedRun>;
  /** Cancels the run on any replica. A finished run does not change. */
  cancel(principal: UserPrincipal, runId: string): Promise<RunView>;
  view(principal: UserPrincipal, runId: string): Promise<RunView>;
  list(principal: UserPrincipal, setId: string, query: SetsQuery): Promise<RunsView>;
  /** From now on no run and no step starts. */
  drain(): void;
  close(): Promise<void>;
}

/** How long `close` waits for the current steps. */
const CLOSE_TIMEOUT_MS = 5_000;
const MAX_PAGE_SIZE = 100;
/** Attempts of a cancellation that conflicts with other writes. */
const MAX_CANCEL_ATTEMPTS = 5;
const RUN_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;
/** The lease under which `settleOrphanedRuns` writes. */
const SETTLE_LEASE_TTL_MS = 20_000;

export function createSetRuns(parts: SetParts): SetRuns {
  const { runs, leases, clock, random, roles, sets } = parts;
  const jobs = new Map<string, RunJob>();
  let isDraining = false;

  async function find({ tenant, userId }: UserPrincipal, id: string): Promise<SetRun> {
    const run = await runs.find(tenant, userId, id);
    if (!run) throw new GatewayError('RUN_NOT_FOUND');
    return run;
  }

  const toView = async (run: SetRun) => toRunView(run, await getRunState(leases, run));

  /** Runs `work` with the lease of the run. The started job releases it. */
  async function withRunLease<T>(
    run: Pick<SetRun, 'tenant' | 'userId' | 'id'>,
    work: (lease: RunLease) => Promise<T>,
  ): Promise<T> {
    if (isDraining) throw new GatewayError('SHUTTING_DOWN');
    const lease = await acquireRunLease(parts, run);
    if (!lease) throw new GatewayError('RUN_NOT_RESUMABLE', { detail: 'This run is in progress.' });
    try {
      return await work(lease);
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  function startJob(inbound: RunInbound, run: SetRun, lease: RunLease, listener?: RunListener): StartedRun {
    const startedAt = clock.now();
    const fields = run.request && requestFields(run.request);
    const job = startRunJob(parts, { ...inbound, fields }, run, lease, listener);
    jobs.set(run.id, job);
    const completion = job.completion.then((finalRun) => {
      jobs.delete(run.id);
      const durationMs = clock.now() - startedAt;
      parts.callParts.audit.note({ ...createRunEvent(inbound, finalRun), durationMs });
      return toView(finalRun);
    });
    completion.catch(() => undefined);
    return { view: toRunView(run, 'running'), completion };
  }

  /** RUN_LIMIT if the user has too many runs in progress. Orphaned runs do not count. */
  async function insertRun(inbound: RunInbound, run: SetRun): Promise<void> {
    try {
      await runs.insert(run);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'RUN_LIMIT') throw error;
      await settleOrphanedRuns(inbound);
      await runs.insert(run);
    }
  }

  /**
   * Writes that the run is in progress again. RUN_LIMIT as for `insertRun`, counted after the write: of several runs that are
   * resumed at once, each one that exceeds the limit undoes its own write.
   */
  async function writeResumed(inbound: RunInbound, previous: SetRun, next: SetRun): Promise<SetRun> {
    const { tenant, userId } = next;
    const exceedsLimit = async () => (await runs.listRunning(tenant, userId)).length > MAX_ACTIVE_RUNS;
    const resumed = await runs.replace(next);
    if (!resumed) throw new GatewayError('RUN_NOT_RESUMABLE');
    if (!(await exceedsLimit())) return resumed;
    await settleOrphanedRuns(inbound);
    if (!(await exceedsLimit())) return resumed;
    await runs.replace({ ...previous, version: resumed.version });
    throw new GatewayError('RUN_LIMIT');
  }

  /** Writes the real state of the user's `running` runs without a worker. Otherwise they would count toward the limit forever. */
  async function settleOrphanedRuns(inbound: RunInbound): Promise<void> {
    const { tenant, userId } = inbound.principal;
    for (const metadata of await runs.listRunning(tenant, userId)) {
      const request = { key: getRunLeaseKey(metadata), purpose: 'run', ttlMs: SETTLE_LEASE_TTL_MS } as const;
      const lease = await acquireLease(parts, request);
      if (!lease) continue;
      try {
        const run = await runs.find(tenant, userId, metadata.id);
        if (run?.state === 'running') await runs.replace(await toOrphaned(inbound, run));
      } finally {
        await lease.release();
      }
    }
  }

  /** The current step has an unknown outcome. Between two steps, the run can continue. */
  async function toOrphaned(inbound: RunInbound, run: SetRun): Promise<SetRun> {
    const next = run.steps[run.done];
    const wasRunning = next?.state === 'running';
    const mayGoOn = next !== undefined && (!wasRunning || (await canRepeatStep(inbound, next)));
    const state = run.isCancelling ? 'cancelled' : wasRunning ? 'uncertain' : next ? 'failed' : 'succeeded';
    const stopped = toStopped(run, state);
    const steps = stopped.steps.map((step, index) => (index === run.done ? { ...step, mayGoOn } : step));
    return { ...stopped, steps };
  }

  /** The run without a worker. A step that was running has an unknown outcome. */
  function toStopped(run: SetRun, state: SetRun['state']): SetRun {
    const now = clock.now();
    const steps = run.steps.map((step) =>
      step.state === 'running' ? { ...step, state: 'uncertain' as const, endedAt: now } : step,
    );
    return { ...run, state, steps, isCancelling: false, worker: '', updatedAt: now };
  }

  /** The retry rule of calls, evaluated again: the operator may have marked the tool as idempotent since. */
  async function canRepeatStep({ principal }: RunInbound, step: StoredStep): Promise<boolean> {
    if (step.code === 'MCP_RESPONSE_TOO_LARGE') return false;
    return isRetryAllowed(parts, { principal }, await findBlockToRun(parts, principal, step.block));
  }

  function drain(): void {
    isDraining = true;
    for (const job of jobs.values()) job.stop();
  }

  return {
    async start(inbound, setId, { request, ifMatch, blocks, ...provided }, listener) {
      const { principal } = inbound;
      const { resource: set } = await sets.require(principal, setId);
      // An editor of the set can change its steps. The caller runs only the version that they read.
      requireVersion(ifMatch, set.version);
      const check = await checkSteps(parts, inbound, set.steps, provided);
      requireExpectedVersions(check, blocks);
      requireRunnable(check);
      const steps = createSteps(set.steps, check, provided);
      requireInputLimit(steps);
      const now = clock.now();
      const run: SetRun = {
        ...{ id: random.id(), tenant: principal.tenant, userId: principal.userId, setId: set.id },
        ...{ state: 'running', isCancelling: false, worker: random.id(), done: 0, total: steps.length },
        ...{ version: 1, createdAt: now, updatedAt: now, expiresAt: now + RUN_RETENTION_MS },
        ...{ title: set.title, steps, request },
      };
      // The lease comes before the insert, so that the run never appears as interrupted.
      return withRunLease(run, async (lease) => {
        await insertRun(inbound, run);
        return startJob(inbound, run, lease, listener);
      });
    },

    async resume(inbound, runId, provided, listener) {
      const { principal } = inbound;
      roles.requirePermission(principal, 'USE');
      const known = await find(principal, runId);
      // A user who lost access to the set cannot continue its run.
      await sets.require(principal, known.setId);
      return withRunLease(known, async (lease) => {
        const run = await find(principal, runId);
        const state = run.state === 'running' ? 'interrupted' : run.state;
        const next = run.steps[run.done];
        if (state === 'failed' && next?.code === 'RUN_BLOCK_CHANGED') throw new GatewayError(next.code);
        // An uncertain run is decided below, when the tools are listed.
        if (state !== 'uncertain' && !isResumable(run, state)) throw new GatewayError('RUN_NOT_RESUMABLE');
        const remaining = run.steps
          .slice(run.done)
          .map((step) => ({ ...step, ...selectProvided(step.key, provided, step) }));
        const check = await checkSteps(parts, inbound, remaining, mergeProvided(remaining, provided));
        const steps = requireSameBlocks(remaining, check);
        requireRunnable(check);
        requireInputLimit(steps);
        const mayHaveRun = next?.state === 'running' || next?.state === 'uncertain';
        if (next && mayHaveRun && !(await canRepeatStep(inbound, next))) {
          await runs.replace(toStopped(run, 'uncertain'));
          throw new GatewayError('RUN_OUTCOME_UNCERTAIN');
        }
        const resumed = await writeResumed(inbound, run, {
          ...{ ...run, state: 'running', isCancelling: false, worker: random.id() },
          ...{ steps: [...run.steps.slice(0, run.done), ...steps], updatedAt: clock.now() },
        });
        return startJob(inbound, resumed, lease, listener);
      });
    },

    async cancel(principal, runId) {
      roles.requirePermission(principal, 'USE');
      for (let attempts = 1; attempts <= MAX_CANCEL_ATTEMPTS; attempts += 1) {
        const run = await find(principal, runId);
        const job = jobs.get(runId);
        if (job) {
          job.cancel();
          return toView(await job.completion);
        }
        const state = await getRunState(leases, run);
        if (state === 'running') {
          // The worker of another replica reads this with its next heartbeat or write.
          const cancelling = run.isCancelling ? run : await runs.replace({ ...run, isCancelling: true });
          if (cancelling) return toRunView(cancelling, state);
        } else if (isResumable(run, state)) {
          const cancelled = await runs.replace(toStopped(run, 'cancelled'));
          if (cancelled) return toRunView(cancelled, 'cancelled');
        } else {
          return toRunView(run, state);
        }
      }
      throw new GatewayError('VERSION_CONFLICT');
    },

    async view(principal, runId) {
      roles.requirePermission(principal, 'USE');
      return toView(await find(principal, runId));
    },

    async list(principal, setId, { limit = MAX_PAGE_SIZE, after }) {
      roles.requirePermission(principal, 'USE');
      const all = await runs.list(principal.tenant, principal.userId, setId);
      const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
      const page = all.slice(start, start + Math.min(limit, MAX_PAGE_SIZE));
      const next = start + page.length < all.length ? (page.at(-1)?.id ?? null) : null;
      const summaries = page.map(async (run) => toRunSummary(run, await getRunState(leases, run)));
      return { runs: await Promise.all(summaries), next };
    },

    drain,

    async close() {
      drain();
      const completions = Promise.all([...jobs.values()].map(({ completion }) => completion));
      await withTimeout(clock, CLOSE_TIMEOUT_MS, completions, () => undefined);
      for (const job of jobs.values()) job.abandon();
      await completions;
    },
  };
}

/** The outcome of a run on this replica. The events of its steps name the run as their request. */
function createRunEvent(
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
  // Still `running`: the job stopped without writing an end.
  running: 'uncertain',
  waiting: 'refused',
  uncertain: 'uncertain',
  failed: 'failed',
  cancelled: 'refused',
  succeeded: 'ok',
};

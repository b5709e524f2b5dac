import type {
  KeptStep,
  RunResumeRequest,
  RunsView,
  RunView,
  SetRunRequest,
  SetsQuery,
} from '@behalf/contracts';
import { within, type HeldLease } from '@behalf/kernel';
import { blockToRun } from '../blocks/runBlock.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { findSaved } from '../saved/findSaved.ts';
import { requireVersion, type WriteCondition } from '../saved/writeSaved.ts';
import { requestFields } from '../toolcall/requestFields.ts';
import { mayRunAgain } from './attemptStep.ts';
import { checkSteps } from './checkSet.ts';
import { LEASE_MS, RUN_KEPT_MS } from './limits.ts';
import { beginAgain, beginNew, settleLost } from './lostRuns.ts';
import type { Asking, RunSetParts } from './parts.ts';
import {
  allOf,
  firstSteps,
  leftOf,
  requireRoom,
  requireRunnable,
  requireSeen,
  sameBlocks,
} from './readyToRun.ts';
import { startRunJob, type RunJob, type RunListener } from './runJob.ts';
import { runEvent } from './runEvent.ts';
import { isResumable, runLease, runSummary, runView, stateOf } from './runView.ts';
import type { Run } from './sealedRuns.ts';
import { setShelf } from './sealedSets.ts';

/** A run that has begun. */
export interface BegunRun {
  readonly view: RunView;
  /** How it stands when it is over here, however that was. */
  readonly ended: Promise<RunView>;
}

export interface SetRuns {
  /** Nothing runs unless all of it would, and is what was read: SET_INCOMPLETE, VERSION_CONFLICT. It goes on when who began it leaves. */
  start(
    asking: Asking,
    setId: string,
    request: SetRunRequest & WriteCondition,
    listener?: RunListener,
  ): Promise<BegunRun>;
  /** From the first step that has not succeeded. RUN_BLOCK_CHANGED where a block that is left is another now; RUN_OUTCOME_UNCERTAIN where that may have run and must not again. */
  resume(asking: Asking, runId: string, request: RunResumeRequest, listener?: RunListener): Promise<BegunRun>;
  /** Ends it, here or wherever it runs. What has ended stays as it is. */
  cancel(principal: UserPrincipal, runId: string): Promise<RunView>;
  view(principal: UserPrincipal, runId: string): Promise<RunView>;
  list(principal: UserPrincipal, setId: string, query: SetsQuery): Promise<RunsView>;
  /** No step begins any more. */
  drain(): void;
  close(): Promise<void>;
}

/** How long a step that is under way may take when we close. */
const CLOSING_MS = 5_000;
const LONGEST_PAGE = 100;
/** How often a cancellation that meets another write is tried. */
const TRIES = 5;

export function createSetRuns(parts: RunSetParts): SetRuns {
  const { runs, leases, clock, random, roles } = parts;
  const jobs = new Map<string, RunJob>();
  let isDraining = false;

  async function find({ tenant, userId }: UserPrincipal, id: string): Promise<Run> {
    const run = await runs.find(tenant, userId, id);
    if (!run) throw new GatewayError('RUN_NOT_FOUND');
    return run;
  }

  const shown = async (run: Run) => runView(run, await stateOf(leases, run));

  /** Its work is ours from here on, or somebody else's already. */
  async function take(run: Pick<Run, 'tenant' | 'userId' | 'id'>): Promise<HeldLease> {
    if (isDraining) throw new GatewayError('SHUTTING_DOWN');
    const lease = await leases.acquire(runLease(run), 'run', LEASE_MS);
    if (!lease) throw new GatewayError('RUN_NOT_RESUMABLE', { detail: 'This run is under way.' });
    return lease;
  }

  async function orRelease<T>(lease: HeldLease, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await lease.release().catch(() => false);
      throw error;
    }
  }

  function begin(asking: Asking, run: Run, lease: HeldLease, listener?: RunListener): BegunRun {
    const begunAt = clock.now();
    const fields = run.request && requestFields(run.request);
    const job = startRunJob(parts, { ...asking, fields }, run, lease, listener);
    jobs.set(run.id, job);
    const ended = job.ended.then((last) => {
      jobs.delete(run.id);
      parts.asking.audit.note({ ...runEvent(asking, last), durationMs: clock.now() - begunAt });
      return shown(last);
    });
    ended.catch(() => undefined);
    return { view: runView(run, 'running'), ended };
  }

  function drain(): void {
    isDraining = true;
    for (const job of jobs.values()) job.stop();
  }

  return {
    async start(asking, setId, { request, ifMatch, blocks, ...brought }, listener) {
      const { principal } = asking;
      const { thing: set } = await findSaved(parts, setShelf(parts), principal, setId);
      // Whoever may edit it decides what its steps do: who read one version does not run another.
      requireVersion(ifMatch, set.version);
      const check = await checkSteps(parts, asking, set.steps, brought);
      requireSeen(check, blocks);
      requireRunnable(check);
      const steps = firstSteps(set.steps, check, brought);
      requireRoom(steps);
      const now = clock.now();
      const run: Run = {
        ...{ id: random.id(), tenant: principal.tenant, userId: principal.userId, setId: set.id },
        ...{ state: 'running', isCancelling: false, worker: random.id(), done: 0, total: steps.length },
        ...{ version: 1, createdAt: now, updatedAt: now, expiresAt: now + RUN_KEPT_MS },
        ...{ title: set.title, steps, request },
      };
      // Before it is there: nobody finds it without somebody at it.
      const lease = await take(run);
      await orRelease(lease, () => beginNew(runs, run, makeRoom(asking)));
      return begin(asking, run, lease, listener);
    },

    async resume(asking, runId, brought, listener) {
      const { principal } = asking;
      roles.requirePermission(principal, 'USE');
      const before = await find(principal, runId);
      // Who was given the set and is not any more does not go on with it.
      await findSaved(parts, setShelf(parts), principal, before.setId);
      const lease = await take(before);
      return orRelease(lease, async () => {
        const run = await find(principal, runId);
        const state = run.state === 'running' ? 'interrupted' : run.state;
        const next = run.steps[run.done];
        if (state === 'failed' && next?.code === 'RUN_BLOCK_CHANGED') throw new GatewayError(next.code);
        // Of one that is uncertain the rule is asked again, once the tools are known.
        if (state !== 'uncertain' && !isResumable(run, state)) throw new GatewayError('RUN_NOT_RESUMABLE');
        const wanted = leftOf(run, brought);
        const check = await checkSteps(parts, asking, wanted, allOf(wanted, brought));
        const left = sameBlocks(wanted, check);
        requireRunnable(check);
        requireRoom(left);
        if (next && isUncertain(next) && !(await maySend(asking, next))) {
          await settle(run, { state: 'uncertain' });
          throw new GatewayError('RUN_OUTCOME_UNCERTAIN');
        }
        const again = {
          ...{ ...run, state: 'running' as const, isCancelling: false, worker: random.id() },
          ...{ steps: [...run.steps.slice(0, run.done), ...left], updatedAt: clock.now() },
        };
        const resumed = await beginAgain(runs, { before: run, next: again }, makeRoom(asking));
        if (!resumed) throw new GatewayError('RUN_NOT_RESUMABLE');
        return begin(asking, resumed, lease, listener);
      });
    },

    async cancel(principal, runId) {
      roles.requirePermission(principal, 'USE');
      for (let tries = 1; tries <= TRIES; tries += 1) {
        const run = await find(principal, runId);
        const job = jobs.get(runId);
        if (job) {
          job.cancel();
          return shown(await job.ended);
        }
        const state = await stateOf(leases, run);
        if (state === 'running') {
          const asked = run.isCancelling ? run : await runs.replace({ ...run, isCancelling: true });
          if (asked) return runView(asked, state);
        } else if (isResumable(run, state)) {
          const ended = await settle(run, { state: 'cancelled' });
          if (ended) return runView(ended, 'cancelled');
        } else {
          return runView(run, state);
        }
      }
      throw new GatewayError('VERSION_CONFLICT');
    },

    async view(principal, runId) {
      roles.requirePermission(principal, 'USE');
      return shown(await find(principal, runId));
    },

    async list(principal, setId, { limit = LONGEST_PAGE, after }) {
      roles.requirePermission(principal, 'USE');
      const all = await runs.list(principal.tenant, principal.userId, setId);
      const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
      const page = all.slice(from, from + Math.min(limit, LONGEST_PAGE));
      const next = from + page.length < all.length ? (page.at(-1)?.id ?? null) : null;
      const heads = page.map(async (run) => runSummary(run, await stateOf(leases, run)));
      return { runs: await Promise.all(heads), next };
    },

    drain,

    async close() {
      drain();
      const ending = Promise.all([...jobs.values()].map(({ ended }) => ended));
      await within(clock, CLOSING_MS, ending, () => undefined);
      for (const job of jobs.values()) job.abandon();
      await ending;
    },
  };

  /** Nobody is at it. A step that was under way when its replica went may have run. */
  function settle(run: Run, change: Pick<Run, 'state'>): Promise<Run | null> {
    const steps = run.steps.map((step) =>
      step.state === 'running' ? { ...step, state: 'uncertain' as const, endedAt: clock.now() } : step,
    );
    return runs.replace({
      ...{ ...run, ...change, steps, isCancelling: false, worker: '', updatedAt: clock.now() },
    });
  }

  function makeRoom(asking: Asking): () => Promise<void> {
    return () => settleLost(parts, asking.principal, (step) => maySend(asking, step));
  }

  /** By the rule for calls whose outcome is not known; asked anew, as the operator may have vouched for the tool since. */
  async function maySend(asking: Asking, step: KeptStep): Promise<boolean> {
    if (step.code === 'MCP_RESPONSE_TOO_LARGE') return false;
    return mayRunAgain(parts, asking, await blockToRun(parts, asking.principal, step.block));
  }
}

function isUncertain({ state }: KeptStep): boolean {
  return state === 'running' || state === 'uncertain';
}

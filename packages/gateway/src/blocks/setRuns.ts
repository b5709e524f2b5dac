import type {
  RunResumeRequest,
  RunView,
  RunsView,
  SetCheckRequest,
  SetCheckView,
  SetRunRequest,
  SetStep,
  SetsQuery,
  StoredStep,
} from '@behalf/contracts';
import { type HeldLease, withTimeout } from '@behalf/kernel';
import { type AuditEvent, actorOf } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { requestFields } from '../toolcall/inbound.ts';
import { checkSteps, getOwn } from './check.ts';
import { findBlockToRun } from './runBlock.ts';
import { type RunJob, type RunListener, canRunAgain, startRunJob } from './runJob.ts';
import {
  MAX_RUN_INPUT_LENGTH,
  RUN_LEASE_MS,
  RUN_RETENTION_MS,
  type RunInbound,
  type RunSetParts,
  type SetRun,
  getRunLeaseKey,
  getRunState,
  insertRun,
  isResumable,
  persistResumedRun,
  settleOrphanedRuns,
  toRunSummary,
  toRunView,
} from './runs.ts';
import { type WriteCondition, requireSaved, requireVersion } from './saved.ts';
import { getSetCollection } from './store.ts';

/** A run that has begun. */
export interface StartedRun {
  readonly view: RunView;
  /** How it stands when it is over here, however that was. */
  readonly completion: Promise<RunView>;
}

export interface SetRuns {
  /** Nothing runs unless all of it would, and is what was read: SET_INCOMPLETE, VERSION_CONFLICT. It goes on when who began it leaves. */
  start(
    inbound: RunInbound,
    setId: string,
    request: SetRunRequest & WriteCondition,
    listener?: RunListener,
  ): Promise<StartedRun>;
  /** From the first step that has not succeeded. RUN_BLOCK_CHANGED where a block that is left is another now; RUN_OUTCOME_UNCERTAIN where that may have run and must not again. */
  resume(
    inbound: RunInbound,
    runId: string,
    request: RunResumeRequest,
    listener?: RunListener,
  ): Promise<StartedRun>;
  /** Ends it, here or wherever it runs. What has ended stays as it is. */
  cancel(principal: UserPrincipal, runId: string): Promise<RunView>;
  view(principal: UserPrincipal, runId: string): Promise<RunView>;
  list(principal: UserPrincipal, setId: string, query: SetsQuery): Promise<RunsView>;
  /** No step begins any more. */
  drain(): void;
  close(): Promise<void>;
}

/** How long a step that is under way may take when we close. */
const CLOSE_TIMEOUT_MS = 5_000;
const MAX_PAGE_SIZE = 100;
/** How often a cancellation that meets another write is tried. */
const MAX_CANCEL_ATTEMPTS = 5;

export function createSetRuns(parts: RunSetParts): SetRuns {
  const { runs, leases, clock, random, roles } = parts;
  const jobs = new Map<string, RunJob>();
  let isDraining = false;

  async function find({ tenant, userId }: UserPrincipal, id: string): Promise<SetRun> {
    const run = await runs.find(tenant, userId, id);
    if (!run) throw new GatewayError('RUN_NOT_FOUND');
    return run;
  }

  const toView = async (run: SetRun) => toRunView(run, await getRunState(leases, run));

  /** Its work is ours from here on, or somebody else's already. */
  async function acquireRunLease(run: Pick<SetRun, 'tenant' | 'userId' | 'id'>): Promise<HeldLease> {
    if (isDraining) throw new GatewayError('SHUTTING_DOWN');
    const lease = await leases.acquire(getRunLeaseKey(run), 'run', RUN_LEASE_MS);
    if (!lease) throw new GatewayError('RUN_NOT_RESUMABLE', { detail: 'This run is in progress.' });
    return lease;
  }

  async function releaseOnError<T>(lease: HeldLease, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await lease.release().catch(() => false);
      throw error;
    }
  }

  function startJob(inbound: RunInbound, run: SetRun, lease: HeldLease, listener?: RunListener): StartedRun {
    const startedAt = clock.now();
    const fields = run.request && requestFields(run.request);
    const job = startRunJob(parts, { ...inbound, fields }, run, lease, listener);
    jobs.set(run.id, job);
    const completion = job.completion.then((finalRun) => {
      jobs.delete(run.id);
      parts.callParts.audit.note({
        ...createRunEvent(inbound, finalRun),
        durationMs: clock.now() - startedAt,
      });
      return toView(finalRun);
    });
    completion.catch(() => undefined);
    return { view: toRunView(run, 'running'), completion };
  }

  function drain(): void {
    isDraining = true;
    for (const job of jobs.values()) job.stop();
  }

  return {
    async start(inbound, setId, { request, ifMatch, blocks, ...provided }, listener) {
      const { principal } = inbound;
      const { resource: set } = await requireSaved(parts, getSetCollection(parts), principal, setId);
      // Whoever may edit it decides what its steps do: who read one version does not run another.
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
      // Before it is there: nobody finds it without somebody at it.
      const lease = await acquireRunLease(run);
      await releaseOnError(lease, () => insertRun(runs, run, createSettler(inbound)));
      return startJob(inbound, run, lease, listener);
    },

    async resume(inbound, runId, provided, listener) {
      const { principal } = inbound;
      roles.requirePermission(principal, 'USE');
      const previous = await find(principal, runId);
      // Who was given the set and is not any more does not go on with it.
      await requireSaved(parts, getSetCollection(parts), principal, previous.setId);
      const lease = await acquireRunLease(previous);
      return releaseOnError(lease, async () => {
        const run = await find(principal, runId);
        const state = run.state === 'running' ? 'interrupted' : run.state;
        const next = run.steps[run.done];
        if (state === 'failed' && next?.code === 'RUN_BLOCK_CHANGED') throw new GatewayError(next.code);
        // Of one that is uncertain the rule is asked again, once the tools are known.
        if (state !== 'uncertain' && !isResumable(run, state)) throw new GatewayError('RUN_NOT_RESUMABLE');
        const remainingSteps = getRemainingSteps(run, provided);
        const check = await checkSteps(
          parts,
          inbound,
          remainingSteps,
          mergeProvided(remainingSteps, provided),
        );
        const steps = requireSameBlocks(remainingSteps, check);
        requireRunnable(check);
        requireInputLimit(steps);
        if (next && isUncertain(next) && !(await canRetryStep(inbound, next))) {
          await settleRun(run, { state: 'uncertain' });
          throw new GatewayError('RUN_OUTCOME_UNCERTAIN');
        }
        const resumedRun = {
          ...{ ...run, state: 'running' as const, isCancelling: false, worker: random.id() },
          ...{ steps: [...run.steps.slice(0, run.done), ...steps], updatedAt: clock.now() },
        };
        const resumed = await persistResumedRun(
          runs,
          { previous: run, next: resumedRun },
          createSettler(inbound),
        );
        if (!resumed) throw new GatewayError('RUN_NOT_RESUMABLE');
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
          const cancelling = run.isCancelling ? run : await runs.replace({ ...run, isCancelling: true });
          if (cancelling) return toRunView(cancelling, state);
        } else if (isResumable(run, state)) {
          const cancelled = await settleRun(run, { state: 'cancelled' });
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

  /** Nobody is at it. A step that was under way when its replica went may have run. */
  function settleRun(run: SetRun, change: Pick<SetRun, 'state'>): Promise<SetRun | null> {
    const steps = run.steps.map((step) =>
      step.state === 'running' ? { ...step, state: 'uncertain' as const, endedAt: clock.now() } : step,
    );
    return runs.replace({
      ...{ ...run, ...change, steps, isCancelling: false, worker: '', updatedAt: clock.now() },
    });
  }

  function createSettler(inbound: RunInbound): () => Promise<void> {
    return () => settleOrphanedRuns(parts, inbound.principal, (step) => canRetryStep(inbound, step));
  }

  /** By the rule for calls whose outcome is not known; asked anew, as the operator may have vouched for the tool since. */
  async function canRetryStep(inbound: RunInbound, step: StoredStep): Promise<boolean> {
    if (step.code === 'MCP_RESPONSE_TOO_LARGE') return false;
    return canRunAgain(parts, inbound, await findBlockToRun(parts, inbound.principal, step.block));
  }
}

function isUncertain({ state }: StoredStep): boolean {
  return state === 'running' || state === 'uncertain';
}

/** SET_INCOMPLETE unless all steps would run now: what is missing is named together, and so is what is broken. */
function requireRunnable({ runs, steps, missing }: SetCheckView): void {
  if (runs) return;
  const errors = steps
    .filter(({ state }) => state !== 'ready' && state !== 'incomplete')
    .flatMap(({ step, state, code, errors: stepErrors }) =>
      stepErrors
        ? stepErrors.map((error) => ({ ...error, path: `steps.${step}.${error.path}` }))
        : [
            {
              path: `steps.${step}`,
              code: state,
              message: messages[state] ?? `cannot run: ${code ?? state}`,
            },
          ],
    );
  throw new GatewayError('SET_INCOMPLETE', { missing, ...(errors.length > 0 && { errors }) });
}

/** VERSION_CONFLICT where the runner has read another version of a block than the one that would run. */
function requireExpectedVersions({ steps }: SetCheckView, blocks: SetRunRequest['blocks']): void {
  for (const { step, version } of steps) {
    const expectedVersion = getOwn(blocks, step);
    // Of a block that is not there more is told than that.
    if (expectedVersion !== undefined && version !== undefined && expectedVersion !== version)
      throw new GatewayError('VERSION_CONFLICT');
  }
}

const messages: Readonly<Record<string, string>> = {
  not_found: 'The block was removed or is not shared with you.',
  no_access: 'The server is not shared with you.',
  server_gone: 'The server was removed.',
  tool_gone: 'The tool of this server is not available to you.',
  unknown: 'The tools of the server cannot be listed at the moment.',
};

/** The steps of a run that has not begun. */
function createSteps(
  steps: readonly SetStep[],
  check: SetCheckView,
  provided: SetCheckRequest,
): StoredStep[] {
  return steps.map((step, index) => {
    const { title = '', server, tool = '', version } = check.steps[index] ?? {};
    return {
      ...{ ...step, title, server: server?.name ?? '', tool },
      ...{ state: 'pending', startedAt: null, endedAt: null, mayGoOn: false, providedInputs: {} },
      ...selectProvided(step.key, provided),
      ...(version !== undefined && { blockVersion: version }),
    };
  });
}

/** The steps that have not succeeded, with what is brought to them over what was before. */
function getRemainingSteps(
  { steps, done }: Pick<SetRun, 'steps' | 'done'>,
  provided: SetCheckRequest,
): StoredStep[] {
  return steps.slice(done).map((step) => ({ ...step, ...selectProvided(step.key, provided, step) }));
}

/**
 * RUN_BLOCK_CHANGED unless the blocks are still those with which the run began: whoever may edit one decides what it fixes. Steps
 * of earlier releases take the one that is there.
 */
function requireSameBlocks(steps: readonly StoredStep[], check: SetCheckView): StoredStep[] {
  return steps.map((step, index) => {
    const version = check.steps[index]?.version;
    if (version === undefined) return step;
    const { blockVersion = version } = step;
    if (blockVersion !== version) throw new GatewayError('RUN_BLOCK_CHANGED');
    return { ...step, blockVersion };
  });
}

/** All that steps are brought by now, by their keys. */
function mergeProvided(
  steps: readonly StoredStep[],
  { inputs, credentials }: SetCheckRequest,
): SetCheckRequest {
  return {
    inputs: {
      ...inputs,
      ...Object.fromEntries(steps.map(({ key, providedInputs }) => [key, providedInputs])),
    },
    credentials: {
      ...credentials,
      ...Object.fromEntries(
        steps.flatMap(({ key, credential }) => (credential === undefined ? [] : [[key, credential]])),
      ),
    },
  };
}

function selectProvided(
  key: string,
  { inputs, credentials }: SetCheckRequest,
  previous?: Pick<StoredStep, 'providedInputs' | 'credential'>,
): Pick<StoredStep, 'providedInputs' | 'credential'> {
  const credential = getOwn(credentials, key) ?? previous?.credential;
  return {
    providedInputs: { ...previous?.providedInputs, ...getOwn(inputs, key) },
    ...(credential !== undefined && { credential }),
  };
}

function requireInputLimit(steps: readonly StoredStep[]): void {
  const size = steps.reduce(
    (sum, { providedInputs, inputs }) => sum + JSON.stringify([providedInputs, inputs]).length,
    0,
  );
  if (size > MAX_RUN_INPUT_LENGTH) throw new GatewayError('REQUEST_TOO_LARGE');
}

/** How a run ended, or stopped, as it is written down: beside the events of its steps, which name it as their request. */
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
  // It stopped without an end that anybody could write down.
  running: 'uncertain',
  waiting: 'refused',
  uncertain: 'uncertain',
  failed: 'failed',
  cancelled: 'refused',
  succeeded: 'ok',
};

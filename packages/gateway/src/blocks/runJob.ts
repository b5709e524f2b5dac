import type { RunProgress, RunStepView, StoredStep } from '@behalf/contracts';
import { LightCancellation, sleep } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { type ActiveLease, acquireLease } from '../replication/withLease.ts';
import { type StepAttempt, attemptStep, reloadRunPrincipal } from './runStep.ts';
import { type RunInbound, type SetParts, getRunLeaseKey, toStepView } from './runs.ts';
import type { SetRun } from './store.ts';

/**
 * Executes one run of a set on this replica.
 *
 * Invariants:
 * - Each step is written before it starts and after it ended, as a compare-and-set over the last known version. If two replicas
 *   execute a run, one of them fails to write and stops.
 * - A lease with a heartbeat shows that a worker is alive. A `running` run without one is interrupted, and its current step has
 *   an unknown outcome.
 * - The user is authenticated again before each step.
 */

export interface RunListener {
  step(step: RunStepView): void;
  progress(progress: RunProgress): void;
}

export interface RunJob {
  /** Resolves to the last written run when this replica stops executing it. Never rejects. */
  readonly completion: Promise<SetRun>;
  /** Aborts the current step and cancels the run. */
  cancel(): void;
  /** Lets the current step finish and starts no other. */
  stop(): void;
  /** Aborts the current step. The run can be resumed. */
  abandon(): void;
}

/** How long a crashed worker blocks its run, and the heartbeat interval. */
const LEASE_TTL_MS = 20_000;
const HEARTBEAT_MS = 3_000;

interface LeaseObserver {
  readonly onBeat: () => Promise<void>;
  readonly onLost: () => void;
}

export interface RunLease extends Pick<ActiveLease, 'release'> {
  /** Reports heartbeats and the loss of the lease to the job, which starts after the checks of the run. */
  observe(observer: LeaseObserver): void;
}

/** Null: another worker executes the run. */
export async function acquireRunLease(
  parts: Pick<SetParts, 'leases' | 'clock'>,
  run: Pick<SetRun, 'tenant' | 'userId' | 'id'>,
): Promise<RunLease | null> {
  let isLost = false;
  let observer: LeaseObserver = { onBeat: async () => undefined, onLost: () => (isLost = true) };
  const lease = await acquireLease(parts, {
    ...{ key: getRunLeaseKey(run), purpose: 'run', ttlMs: LEASE_TTL_MS },
    heartbeat: {
      intervalMs: HEARTBEAT_MS,
      onBeat: () => observer.onBeat(),
      onLost: () => observer.onLost(),
    },
  });
  return (
    lease && {
      release: () => lease.release(),
      observe(next) {
        observer = next;
        if (isLost) next.onLost();
      },
    }
  );
}

class RunAborted extends Error {
  override readonly name = 'RunAborted';
  readonly reason: 'cancelled' | 'lost' | 'closing';
  constructor(reason: RunAborted['reason']) {
    super(`The run was stopped: ${reason}`);
    this.reason = reason;
  }
}

const MAX_WRITE_ATTEMPTS = 5;
const WRITE_RETRY_MS = 1_000;

export function startRunJob(
  parts: SetParts,
  inbound: RunInbound,
  initialRun: SetRun,
  lease: RunLease,
  listener?: RunListener,
): RunJob {
  const { runs, clock } = parts;
  const signal = new LightCancellation();
  const startedAt = clock.now();
  let run = initialRun;
  let isClosing = false;

  const abort = (reason: RunAborted['reason']) => signal.abort(new RunAborted(reason));
  const isAborted = () => signal.aborted;

  /** Another replica may have cancelled the run or taken it over. */
  async function checkStored(): Promise<void> {
    const current = await runs.findMetadata(run.tenant, run.userId, run.id);
    if (current?.worker !== run.worker) abort('lost');
    else if (current.isCancelling) abort('cancelled');
  }

  /** Retries after a conflict with a cancellation request, and after a failure: an executed step must be recorded. */
  async function writeRun(change: Partial<SetRun>): Promise<void> {
    for (let attempts = 1; ; attempts += 1) {
      try {
        const written = await runs.replace({ ...run, ...change, updatedAt: clock.now() });
        if (written) {
          run = written;
          return;
        }
        const current = await runs.findMetadata(run.tenant, run.userId, run.id);
        if (current?.worker !== run.worker) throw new RunAborted('lost');
        run = { ...run, version: current.version, isCancelling: current.isCancelling };
        if (run.isCancelling) abort('cancelled');
      } catch (error) {
        if (error instanceof RunAborted || attempts >= MAX_WRITE_ATTEMPTS) throw error;
        await sleep(clock, WRITE_RETRY_MS);
      }
    }
  }

  async function writeStep(index: number, step: StoredStep, runChange: Partial<SetRun> = {}): Promise<void> {
    const steps = run.steps.with(index, step);
    const done = steps.filter(({ state }) => state === 'succeeded').length;
    await writeRun({ steps, done, ...runChange });
    listener?.step(toStepView(step));
  }

  /** False: the run stops at this step. */
  async function runStepAt(index: number): Promise<boolean> {
    if (isAborted() || isClosing) return false;
    const {
      code: _code,
      errors: _errors,
      wait: _wait,
      result: _result,
      ...rest
    } = run.steps[index] as StoredStep;
    const running = {
      ...rest,
      state: 'running',
      startedAt: clock.now(),
      endedAt: null,
      mayGoOn: false,
    } as const;
    await writeStep(index, running);
    // The write found a cancellation request. Nothing was sent.
    if (isAborted()) {
      await writeStep(index, { ...running, state: 'pending', startedAt: null });
      return false;
    }
    const attempt = await attemptStepAt(running, index);
    const ended = { ...running, ...toStoredFields(attempt, run.steps), endedAt: clock.now() };
    const isSucceeded = attempt.state === 'succeeded';
    await writeStep(index, ended, isSucceeded ? {} : { state: attempt.state });
    return isSucceeded;
  }

  async function attemptStepAt(step: StoredStep, index: number): Promise<StepAttempt> {
    let principal;
    try {
      principal = await reloadRunPrincipal(parts, inbound.principal, startedAt);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { state: 'failed', code: error.code, mayGoOn: true };
    }
    const stepInbound = {
      ...inbound,
      ...{ principal, signal, id: run.id, credential: step.credential },
      onProgress: (params: object) => listener?.progress({ ...params, step: step.key }),
      onLog: undefined,
    };
    return attemptStep(parts, stepInbound, step, run.steps.slice(0, index));
  }

  async function execute(): Promise<SetRun> {
    try {
      for (let index = run.done; index < run.steps.length; index += 1) {
        if (!(await runStepAt(index))) break;
      }
      if (signal.reason instanceof RunAborted && signal.reason.reason === 'cancelled')
        await writeRun({ state: 'cancelled', isCancelling: false, worker: '' });
      else if (run.done === run.steps.length) await writeRun({ state: 'succeeded', worker: '' });
      // Otherwise the run waits, failed, or stops for a restart. In the last case it is interrupted without its lease.
    } catch {
      // A write failed. Without its lease the run is interrupted, and a started step has an unknown outcome.
    } finally {
      await lease.release();
    }
    return run;
  }

  lease.observe({ onBeat: checkStored, onLost: () => abort('lost') });
  return {
    completion: execute(),
    cancel: () => abort('cancelled'),
    stop() {
      isClosing = true;
    },
    abandon: () => abort('closing'),
  };
}

/** The maximum JSON length of the result of one step, and of all results of a run. A longer result is not stored. */
const MAX_RESULT_LENGTH = 256 * 1024;
const MAX_TOTAL_RESULT_LENGTH = 1024 * 1024;

function toStoredFields(attempt: StepAttempt, steps: readonly StoredStep[]): Partial<StoredStep> {
  const { result, ...rest } = attempt;
  if (result === undefined) return rest;
  const measure = (value: object) => JSON.stringify(value).length;
  const size = measure(result);
  const total = steps.reduce((sum, step) => sum + (step.result ? measure(step.result) : 0), size);
  const isTooLarge = size > MAX_RESULT_LENGTH || total > MAX_TOTAL_RESULT_LENGTH;
  return isTooLarge ? { ...rest, isResultLost: true } : { ...rest, result };
}

import type { StoredStep, RunProgress, RunStepView } from '@behalf/contracts';
import { LightCancellation, sleep, type Cancel, type HeldLease } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { attemptStep, type StepAttempt } from './attemptStep.ts';
import { HEARTBEAT_MS, MAX_RESULT_LENGTH, MAX_TOTAL_RESULT_LENGTH, RUN_LEASE_MS } from './limits.ts';
import type { RunInbound, RunSetParts } from './parts.ts';
import { reloadRunPrincipal } from './runPrincipal.ts';
import { toStepView } from './runView.ts';
import type { SetRun } from './sealedRuns.ts';

/** Why a run ends before its last step. */
class RunAborted extends Error {
  override readonly name = 'Ended';
  readonly reason: 'cancelled' | 'lost' | 'closing';
  constructor(reason: RunAborted['reason']) {
    super(`The run was stopped: ${reason}`);
    this.reason = reason;
  }
}

export interface RunListener {
  step(step: RunStepView): void;
  progress(progress: RunProgress): void;
}

/** One run that is under way here. */
export interface RunJob {
  /** Resolves when it is over here, with what was last written of it. Never rejects. */
  readonly completion: Promise<SetRun>;
  cancel(): void;
  /** The step that is under way may end; no other begins. */
  stop(): void;
  /** Nor does that one. */
  abandon(): void;
}

const MAX_WRITE_ATTEMPTS = 5;
const WRITE_RETRY_MS = 1_000;

/**
 * Does the steps one after the other. Each is written down before it begins and after it ended, over the version that was last
 * seen: of two that believe the run is theirs, one goes on.
 */
export function startRunJob(
  parts: RunSetParts,
  inbound: RunInbound,
  initialRun: SetRun,
  lease: HeldLease,
  listener?: RunListener,
): RunJob {
  const { runs, clock } = parts;
  const signal = new LightCancellation();
  const startedAt = clock.now();
  let run = initialRun;
  let isClosing = false;
  let isFinished = false;
  let cancelHeartbeat: Cancel = () => undefined;
  let leaseExpiresAt = clock.now() + RUN_LEASE_MS;

  const abort = (reason: RunAborted['reason']) => signal.abort(new RunAborted(reason));
  const isAborted = () => signal.aborted;
  const getAbortReason = () => (signal.reason instanceof RunAborted ? signal.reason.reason : undefined);

  async function sendHeartbeat(): Promise<void> {
    try {
      if (await lease.extend(RUN_LEASE_MS)) leaseExpiresAt = clock.now() + RUN_LEASE_MS;
      else abort('lost');
      const current = await runs.findMetadata(run.tenant, run.userId, run.id);
      if (current?.worker !== run.worker) abort('lost');
      else if (current.isCancelling) abort('cancelled');
    } catch {
      if (clock.now() >= leaseExpiresAt) abort('lost');
    }
    scheduleHeartbeat();
  }
  function scheduleHeartbeat(): void {
    if (!isFinished) cancelHeartbeat = clock.timer(HEARTBEAT_MS, () => void sendHeartbeat());
  }

  /** Over what was last seen. A wish to cancel that came in between is taken up; another worker ends this one. */
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
        // What ran must be written down, or nobody knows.
        if (error instanceof RunAborted || attempts >= MAX_WRITE_ATTEMPTS) throw error;
        await sleep(clock, WRITE_RETRY_MS);
      }
    }
  }

  async function writeStep(
    index: number,
    change: Partial<StoredStep>,
    runChange: Partial<SetRun> = {},
  ): Promise<void> {
    const steps = run.steps.map((step, i) => (i === index ? { ...step, ...change } : step));
    const done = steps.filter(({ state }) => state === 'succeeded').length;
    await writeRun({ steps, done, ...runChange });
    listener?.step(toStepView(steps[index] as StoredStep));
  }

  async function runStepAt(index: number): Promise<boolean> {
    const step = run.steps[index] as StoredStep;
    if (isAborted() || isClosing) return false;
    const { code: _code, errors: _errors, wait: _wait, result: _result, ...rest } = step;
    const runningStep: StoredStep = {
      ...rest,
      state: 'running',
      startedAt: clock.now(),
      endedAt: null,
      mayGoOn: false,
    };
    const steps = run.steps.map((other, i) => (i === index ? runningStep : other));
    await writeRun({ steps });
    listener?.step(toStepView(runningStep));
    // A wish to cancel that was found with this write: nothing was sent.
    if (isAborted()) {
      await writeStep(index, { state: 'pending', startedAt: null });
      return false;
    }
    const stepAttempt = await attemptStepAt(runningStep, index);
    const runChange = stepAttempt.state === 'succeeded' ? {} : { state: stepAttempt.state };
    await writeStep(index, { ...toStoredFields(stepAttempt, run.steps), endedAt: clock.now() }, runChange);
    return stepAttempt.state === 'succeeded';
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

  async function runSteps(): Promise<void> {
    for (let index = run.done; index < run.steps.length; index += 1) {
      if (!(await runStepAt(index))) break;
    }
    if (getAbortReason() === 'cancelled')
      await writeRun({ state: 'cancelled', isCancelling: false, worker: '' });
    else if (run.done === run.steps.length) await writeRun({ state: 'succeeded', worker: '' });
    // One that stops for a restart stays as it is: without its lease it is interrupted.
  }

  async function execute(): Promise<SetRun> {
    scheduleHeartbeat();
    try {
      await runSteps();
    } catch {
      // What could not be written: the run is interrupted, and a step that was under way uncertain.
    } finally {
      isFinished = true;
      cancelHeartbeat();
      // It lapses by itself.
      await lease.release().catch(() => false);
    }
    return run;
  }

  return {
    completion: execute(),
    cancel: () => abort('cancelled'),
    stop() {
      isClosing = true;
    },
    abandon: () => abort('closing'),
  };
}

/** What is kept of an attempt: a result that is too large, alone or with the others, is not. */
function toStoredFields(stepAttempt: StepAttempt, steps: readonly StoredStep[]): Partial<StoredStep> {
  const { result, ...rest } = stepAttempt;
  if (result === undefined) return rest;
  const otherLength = steps.reduce((sum, step) => sum + (step.result ? measureLength(step.result) : 0), 0);
  const size = measureLength(result);
  const isTooLarge = size > MAX_RESULT_LENGTH || otherLength + size > MAX_TOTAL_RESULT_LENGTH;
  return isTooLarge ? { ...rest, isResultLost: true } : { ...rest, result };
}

function measureLength(result: object): number {
  return JSON.stringify(result).length;
}

import type { KeptStep, RunProgress, RunStepView } from '@behalf/contracts';
import { LightCancellation, sleep, type Cancel, type HeldLease } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { attemptStep, type Attempt } from './attemptStep.ts';
import { BEAT_MS, LARGEST_RESULT, LARGEST_RESULTS, LEASE_MS } from './limits.ts';
import type { Asking, RunSetParts } from './parts.ts';
import { runnerOf } from './runnerOf.ts';
import { stepView } from './runView.ts';
import type { Run } from './sealedRuns.ts';

/** Why a run ends before its last step. */
class Ended extends Error {
  override readonly name = 'Ended';
  readonly why: 'cancelled' | 'lost' | 'closing';
  constructor(why: Ended['why']) {
    super(`The run ends: ${why}`);
    this.why = why;
  }
}

export interface RunListener {
  step(step: RunStepView): void;
  progress(progress: RunProgress): void;
}

/** One run that is under way here. */
export interface RunJob {
  /** Resolves when it is over here, with what was last written of it. Never rejects. */
  readonly ended: Promise<Run>;
  cancel(): void;
  /** The step that is under way may end; no other begins. */
  stop(): void;
  /** Nor does that one. */
  abandon(): void;
}

const TRIES = 5;
const RETRY_MS = 1_000;

/**
 * Does the steps one after the other. Each is written down before it begins and after it ended, over the version that was last
 * seen: of two that believe the run is theirs, one goes on.
 */
export function startRunJob(
  parts: RunSetParts,
  asking: Asking,
  begun: Run,
  lease: HeldLease,
  listener?: RunListener,
): RunJob {
  const { runs, clock } = parts;
  const signal = new LightCancellation();
  const since = clock.now();
  let run = begun;
  let isClosing = false;
  let isOver = false;
  let cancelBeat: Cancel = () => undefined;
  let keptUntil = clock.now() + LEASE_MS;

  const end = (why: Ended['why']) => signal.abort(new Ended(why));
  const hasEnded = () => signal.aborted;
  const whyEnded = () => (signal.reason instanceof Ended ? signal.reason.why : undefined);

  async function beat(): Promise<void> {
    try {
      if (await lease.extend(LEASE_MS)) keptUntil = clock.now() + LEASE_MS;
      else end('lost');
      const current = await runs.head(run.tenant, run.userId, run.id);
      if (current?.worker !== run.worker) end('lost');
      else if (current.isCancelling) end('cancelled');
    } catch {
      if (clock.now() >= keptUntil) end('lost');
    }
    beatLater();
  }
  function beatLater(): void {
    if (!isOver) cancelBeat = clock.timer(BEAT_MS, () => void beat());
  }

  /** Over what was last seen. A wish to cancel that came in between is taken up; another worker ends this one. */
  async function write(change: Partial<Run>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        const written = await runs.replace({ ...run, ...change, updatedAt: clock.now() });
        if (written) {
          run = written;
          return;
        }
        const current = await runs.head(run.tenant, run.userId, run.id);
        if (current?.worker !== run.worker) throw new Ended('lost');
        run = { ...run, version: current.version, isCancelling: current.isCancelling };
        if (run.isCancelling) end('cancelled');
      } catch (error) {
        // What ran must be written down, or nobody knows.
        if (error instanceof Ended || tries >= TRIES) throw error;
        await sleep(clock, RETRY_MS);
      }
    }
  }

  async function writeStep(at: number, change: Partial<KeptStep>, more: Partial<Run> = {}): Promise<void> {
    const steps = run.steps.map((step, i) => (i === at ? { ...step, ...change } : step));
    const done = steps.filter(({ state }) => state === 'succeeded').length;
    await write({ steps, done, ...more });
    listener?.step(stepView(steps[at] as KeptStep));
  }

  async function take(at: number): Promise<boolean> {
    const step = run.steps[at] as KeptStep;
    if (hasEnded() || isClosing) return false;
    const { code: _code, errors: _errors, wait: _wait, result: _result, ...rest } = step;
    const fresh: KeptStep = {
      ...rest,
      state: 'running',
      startedAt: clock.now(),
      endedAt: null,
      mayGoOn: false,
    };
    const steps = run.steps.map((each, i) => (i === at ? fresh : each));
    await write({ steps });
    listener?.step(stepView(fresh));
    // A wish to cancel that was found with this write: nothing was sent.
    if (hasEnded()) {
      await writeStep(at, { state: 'pending', startedAt: null });
      return false;
    }
    const attempt = await attempted(fresh, at);
    const ending = attempt.state === 'succeeded' ? {} : { state: attempt.state };
    await writeStep(at, { ...kept(attempt, run.steps), endedAt: clock.now() }, ending);
    return attempt.state === 'succeeded';
  }

  async function attempted(step: KeptStep, at: number): Promise<Attempt> {
    let principal;
    try {
      principal = await runnerOf(parts, asking.principal, since);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { state: 'failed', code: error.code, mayGoOn: true };
    }
    const inbound = {
      ...asking,
      ...{ principal, signal, id: run.id, credential: step.credential },
      onProgress: (params: object) => listener?.progress({ ...params, step: step.key }),
      onLog: undefined,
    };
    return attemptStep(parts, inbound, step, run.steps.slice(0, at));
  }

  async function work(): Promise<void> {
    for (let at = run.done; at < run.steps.length; at += 1) {
      if (!(await take(at))) break;
    }
    if (whyEnded() === 'cancelled') await write({ state: 'cancelled', isCancelling: false, worker: '' });
    else if (run.done === run.steps.length) await write({ state: 'succeeded', worker: '' });
    // One that stops for a restart stays as it is: without its lease it is interrupted.
  }

  async function go(): Promise<Run> {
    beatLater();
    try {
      await work();
    } catch {
      // What could not be written: the run is interrupted, and a step that was under way uncertain.
    } finally {
      isOver = true;
      cancelBeat();
      // It lapses by itself.
      await lease.release().catch(() => false);
    }
    return run;
  }

  return {
    ended: go(),
    cancel: () => end('cancelled'),
    stop() {
      isClosing = true;
    },
    abandon: () => end('closing'),
  };
}

/** What is kept of an attempt: a result that is too large, alone or with the others, is not. */
function kept(attempt: Attempt, steps: readonly KeptStep[]): Partial<KeptStep> {
  const { result, ...rest } = attempt;
  if (result === undefined) return rest;
  const others = steps.reduce((sum, each) => sum + (each.result ? sizeOf(each.result) : 0), 0);
  const size = sizeOf(result);
  const isLost = size > LARGEST_RESULT || others + size > LARGEST_RESULTS;
  return isLost ? { ...rest, isResultLost: true } : { ...rest, result };
}

function sizeOf(result: object): number {
  return JSON.stringify(result).length;
}

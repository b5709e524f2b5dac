import { type DiagnosisStep, type DiagnosisView, type ErrorCode, errorKinds } from '@behalf/contracts';
import { type Cancellation, type Clock, toAbortSignal, withTimeout } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Log } from '../upstream/upstream.ts';

const STEP_TIMEOUT_MS = 5_000;
const TOTAL_TIMEOUT_MS = 30_000;

export type StepName = DiagnosisStep['step'];
export type StepFinding = Omit<DiagnosisStep, 'step' | 'durationMs'>;

/** A finding with a value for later steps. */
export interface StepResult<T> {
  readonly finding: StepFinding;
  readonly value?: T | undefined;
}

interface CompletedStep<T> {
  /** Undefined if the step has no value, timed out or threw an error. */
  readonly value?: T | undefined;
  /** The message of a failed step. */
  readonly failure?: string;
}

type StepWork<T> = (
  signal: AbortSignal,
) => StepFinding | StepResult<T> | Promise<StepFinding | StepResult<T>>;

/** The results of a diagnosis, in the order of the steps. */
export interface Checklist {
  /** Runs a step within its time limit. An error becomes a failed finding; only an abort by the caller rejects. */
  runStep<T>(step: StepName, work: StepWork<T>): Promise<CompletedStep<T>>;
  skip(steps: readonly StepName[], reason: string): void;
  /** Skips steps that depend on a failed step. */
  skipAfter(failure: string, steps: readonly StepName[]): void;
  view(): DiagnosisView;
}

export function createChecklist(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  serverName: string,
  cancellation: Cancellation,
): Checklist {
  const callerSignal = toAbortSignal(cancellation);
  const deadline = clock.now() + TOTAL_TIMEOUT_MS;
  const steps: DiagnosisStep[] = [];

  async function runWithTimeout<T>(
    step: StepName,
    work: StepWork<T>,
    timeoutMs: number,
  ): Promise<StepResult<T>> {
    const timeout = new AbortController();
    const signal = AbortSignal.any([callerSignal, timeout.signal]);
    const run = async (): Promise<StepResult<T>> => {
      const result = await work(signal);
      return 'finding' in result ? result : { finding: result };
    };
    try {
      return await withTimeout(clock, timeoutMs, run(), () => {
        timeout.abort();
        return { finding: failed('MCP_TIMEOUT', `This step took longer than ${timeoutMs / 1_000} s.`) };
      });
    } catch (error) {
      callerSignal.throwIfAborted();
      if (error instanceof GatewayError) return { finding: failed(error.code) };
      log('diagnosis_step_failed', { step, reason: error instanceof Error ? error.name : 'unknown' });
      return { finding: failed('INTERNAL', 'This step could not be checked.') };
    }
  }

  const skip: Checklist['skip'] = (skippedSteps, reason) => {
    for (const step of skippedSteps) steps.push({ step, ...skipped(reason) });
  };

  return {
    async runStep(step, work) {
      callerSignal.throwIfAborted();
      const startedAt = clock.now();
      const timeoutMs = Math.min(STEP_TIMEOUT_MS, deadline - startedAt);
      const { finding, value } =
        timeoutMs > 0
          ? await runWithTimeout(step, work, timeoutMs)
          : { finding: skipped('There was no time left for this step.'), value: undefined };
      steps.push({ step, ...finding, durationMs: clock.now() - startedAt });
      return { value, ...(finding.outcome === 'failed' && { failure: finding.message }) };
    },
    skip,
    skipAfter(failure, skippedSteps) {
      skip(skippedSteps, `Not tried: ${failure.charAt(0).toLowerCase()}${failure.slice(1)}`);
    },
    view() {
      const failedStep = steps.find(({ outcome }) => outcome === 'failed');
      return { serverName, ok: !failedStep, ...(failedStep && { failedAt: failedStep.step }), steps };
    },
  };
}

export function ok(message: string): StepFinding {
  return { outcome: 'ok', message };
}

export function skipped(message: string): StepFinding {
  return { outcome: 'skipped', message };
}

export function warning(message: string, action: string, code?: ErrorCode): StepFinding {
  return { outcome: 'warning', message, action, ...(code !== undefined && { code }) };
}

/** The default texts belong to the code. No text comes from a server. */
export function failed(code: ErrorCode, message?: string, action?: string): StepFinding {
  const { title, action: defaultAction } = errorKinds[code];
  return { outcome: 'failed', message: message ?? `${title}.`, action: action ?? defaultAction, code };
}

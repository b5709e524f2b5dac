import { errorKinds, type DiagnosisStep, type DiagnosisView, type ErrorCode } from '@behalf/contracts';
import { toAbortSignal, withTimeout, type Cancellation, type Clock } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Log } from '../upstream/upstream.ts';

const STEP_TIMEOUT_MS = 5_000;
const TOTAL_TIMEOUT_MS = 30_000;

export type StepName = DiagnosisStep['step'];
export type StepFinding = Omit<DiagnosisStep, 'step' | 'durationMs'>;

/** The steps that were looked at, in their order. */
export interface Checklist {
  /** Looks, within the time that a step has. Whatever goes wrong is a finding; only who leaves ends it. */
  runStep(step: StepName, work: (signal: AbortSignal) => Promise<StepFinding>): Promise<StepFinding>;
  /** Says why it was not looked at. */
  skip(steps: StepName | readonly StepName[], reason: string): void;
  view(): DiagnosisView;
}

interface ChecklistParts {
  readonly clock: Clock;
  readonly log: Log;
}

export function createChecklist(
  { clock, log }: ChecklistParts,
  serverName: string,
  cancellation: Cancellation,
): Checklist {
  const callerSignal = toAbortSignal(cancellation);
  const deadline = clock.now() + TOTAL_TIMEOUT_MS;
  const steps: DiagnosisStep[] = [];

  async function runWithTimeout(
    step: StepName,
    work: (signal: AbortSignal) => Promise<StepFinding>,
    timeoutMs: number,
  ): Promise<StepFinding> {
    const timeout = new AbortController();
    const signal = AbortSignal.any([callerSignal, timeout.signal]);
    try {
      return await withTimeout(clock, timeoutMs, work(signal), () => {
        timeout.abort();
        return failed('MCP_TIMEOUT', `This step took longer than ${timeoutMs / 1_000} s.`);
      });
    } catch (error) {
      callerSignal.throwIfAborted();
      if (error instanceof GatewayError) return failed(error.code);
      log('diagnosis_step_failed', { step, reason: error instanceof Error ? error.name : 'unknown' });
      return failed('INTERNAL', 'This step could not be checked.');
    }
  }

  return {
    async runStep(step, work) {
      callerSignal.throwIfAborted();
      const startedAt = clock.now();
      const timeoutMs = Math.min(STEP_TIMEOUT_MS, deadline - startedAt);
      const finding =
        timeoutMs > 0
          ? await runWithTimeout(step, work, timeoutMs)
          : skipped('There was no time left for this step.');
      steps.push({ step, ...finding, durationMs: clock.now() - startedAt });
      return finding;
    },
    skip(skippedSteps, reason) {
      for (const step of typeof skippedSteps === 'string' ? [skippedSteps] : skippedSteps)
        steps.push({ step, ...skipped(reason) });
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

/** In our own words, or in those that stand with the code. Never in anybody else's. */
export function failed(code: ErrorCode, message?: string, action?: string): StepFinding {
  const { title, action: defaultAction } = errorKinds[code];
  return { outcome: 'failed', message: message ?? `${title}.`, action: action ?? defaultAction, code };
}

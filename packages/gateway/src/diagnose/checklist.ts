import { errorKinds, type DiagnosisStep, type DiagnosisView, type ErrorCode } from '@behalf/contracts';
import { toAbortSignal, within, type Cancellation, type Clock } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Log } from '../upstream/parts.ts';

const STEP_MS = 5_000;
const TOTAL_MS = 30_000;

export type StepName = DiagnosisStep['step'];
export type Finding = Omit<DiagnosisStep, 'step' | 'durationMs'>;

/** The steps that were looked at, in their order. */
export interface Checklist {
  /** Looks, within the time that a step has. Whatever goes wrong is a finding; only who leaves ends it. */
  look(step: StepName, work: (signal: AbortSignal) => Promise<Finding>): Promise<Finding>;
  /** Says why it was not looked at. */
  skip(steps: StepName | readonly StepName[], why: string): void;
  view(): DiagnosisView;
}

export interface ChecklistParts {
  readonly clock: Clock;
  readonly log: Log;
}

export function createChecklist(
  { clock, log }: ChecklistParts,
  serverName: string,
  cancellation: Cancellation,
): Checklist {
  const left = toAbortSignal(cancellation);
  const deadline = clock.now() + TOTAL_MS;
  const steps: DiagnosisStep[] = [];

  async function attempt(
    step: StepName,
    work: (signal: AbortSignal) => Promise<Finding>,
    ms: number,
  ): Promise<Finding> {
    const late = new AbortController();
    const signal = AbortSignal.any([left, late.signal]);
    try {
      return await within(clock, ms, work(signal), () => {
        late.abort();
        return failed('MCP_TIMEOUT', `This took longer than ${ms / 1_000} s.`);
      });
    } catch (error) {
      left.throwIfAborted();
      if (error instanceof GatewayError) return failed(error.code);
      log('diagnosis_step_failed', { step, reason: error instanceof Error ? error.name : 'unknown' });
      return failed('INTERNAL', 'This could not be looked at.');
    }
  }

  return {
    async look(step, work) {
      left.throwIfAborted();
      const begun = clock.now();
      const ms = Math.min(STEP_MS, deadline - begun);
      const finding =
        ms > 0 ? await attempt(step, work, ms) : skipped('There was no time left to look at this.');
      steps.push({ step, ...finding, durationMs: clock.now() - begun });
      return finding;
    },
    skip(names, why) {
      for (const step of typeof names === 'string' ? [names] : names) steps.push({ step, ...skipped(why) });
    },
    view() {
      const broken = steps.find(({ outcome }) => outcome === 'failed');
      return { serverName, ok: !broken, ...(broken && { failedAt: broken.step }), steps };
    },
  };
}

export function ok(message: string): Finding {
  return { outcome: 'ok', message };
}

export function skipped(message: string): Finding {
  return { outcome: 'skipped', message };
}

export function warning(message: string, action: string, code?: ErrorCode): Finding {
  return { outcome: 'warning', message, action, ...(code !== undefined && { code }) };
}

/** In our own words, or in those that stand with the code. Never in anybody else's. */
export function failed(code: ErrorCode, message?: string, action?: string): Finding {
  const { title, action: usual } = errorKinds[code];
  return { outcome: 'failed', message: message ?? `${title}.`, action: action ?? usual, code };
}

import type { DiagnosisStep, DiagnosisView } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';

export const outcomeTones: Readonly<Record<DiagnosisStep['outcome'], Tone>> = {
  ok: 'success',
  warning: 'warning',
  failed: 'danger',
  skipped: 'neutral',
};

/** The name of a step. A newer gateway may have steps that this page does not know. */
export function stepName(step: string): string {
  return (strings.diagnosis.steps as Readonly<Record<string, string>>)[step] ?? step.replaceAll('_', ' ');
}

interface DiagnosisSummary {
  readonly tone: 'success' | 'danger';
  readonly title: string;
  readonly text: string;
}

/** The conclusion in one sentence, and the next action. */
export function summarizeDiagnosis({ ok, failedAt, steps }: DiagnosisView): DiagnosisSummary {
  const words = strings.diagnosis;
  const failed =
    steps.find(({ step }) => step === failedAt) ?? steps.find(({ outcome }) => outcome === 'failed');
  if (ok || !failed) {
    const warnings = steps.filter(({ outcome }) => outcome === 'warning').length;
    return { tone: 'success', title: words.works, text: words.worksText(warnings) };
  }
  const { step, message, action } = failed;
  return {
    tone: 'danger',
    title: words.failed(stepName(step)),
    text: [message, action].filter(Boolean).join(' '),
  };
}

/** Separates executed steps from skipped ones. */
export function splitSteps({ steps }: Pick<DiagnosisView, 'steps'>): {
  readonly checked: readonly DiagnosisStep[];
  readonly skipped: readonly DiagnosisStep[];
} {
  return {
    checked: steps.filter(({ outcome }) => outcome !== 'skipped'),
    skipped: steps.filter(({ outcome }) => outcome === 'skipped'),
  };
}

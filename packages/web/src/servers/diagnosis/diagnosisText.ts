import type { DiagnosisStep, DiagnosisView } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';

export const outcomeTones: Readonly<Record<DiagnosisStep['outcome'], Tone>> = {
  ok: 'success',
  warning: 'warning',
  failed: 'danger',
  skipped: 'neutral',
};

/** A gateway of a newer version may look at more than this page has words for. */
export function stepName(step: string): string {
  return (strings.diagnosis.steps as Readonly<Record<string, string>>)[step] ?? step.replaceAll('_', ' ');
}

interface DiagnosisSummary {
  readonly tone: 'success' | 'danger';
  readonly title: string;
  readonly text: string;
}

/** What it comes to, in a sentence, and what to do where something is to be done. */
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

/** Those that say something, and those that were left out. */
export function splitSteps({ steps }: Pick<DiagnosisView, 'steps'>): {
  readonly checked: readonly DiagnosisStep[];
  readonly skipped: readonly DiagnosisStep[];
} {
  return {
    checked: steps.filter(({ outcome }) => outcome !== 'skipped'),
    skipped: steps.filter(({ outcome }) => outcome === 'skipped'),
  };
}

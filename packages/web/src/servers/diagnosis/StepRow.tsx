import type { DiagnosisStep } from '@behalf/contracts';
import { formatDuration } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import styles from './diagnosis.module.css';
import { outcomeTones, stepName } from './diagnosisText.ts';

/** What takes less is not worth a number. */
const SLOW_MS = 100;

/** One step: how it went, what was found, and what to do. */
export function StepRow({ step }: { readonly step: DiagnosisStep }) {
  const words = strings.diagnosis;
  const { outcome, message, action, code, durationMs = 0 } = step;
  const isSlow = outcome !== 'skipped' && durationMs >= SLOW_MS;
  const hasProblem = outcome === 'failed' || outcome === 'warning';
  return (
    <li className={styles['step']}>
      <span className={styles['outcome']}>
        <Badge tone={outcomeTones[outcome]}>{words.outcomes[outcome]}</Badge>
      </span>
      <div className={styles['found']}>
        <h3>{stepName(step.step)}</h3>
        <p>{message}</p>
        {action !== undefined && (
          <p className={styles['action']}>
            <strong>{words.whatToDo}</strong> {action}
          </p>
        )}
        {hasProblem && code !== undefined && (
          <p className={styles['muted']}>
            <code>{code}</code>
          </p>
        )}
      </div>
      {isSlow && <span className={styles['muted']}>{formatDuration(durationMs)}</span>}
    </li>
  );
}

import type { DiagnosisStep, DiagnosisView } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { diagnoseServer, invalidateServers } from '../../api/servers.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { formatDuration, formatTimeOrDate } from '../../ui/format.ts';
import styles from './diagnosis.module.css';
import { outcomeTones, splitSteps, stepName, summarizeDiagnosis } from './diagnosisText.ts';

/** Checks why this user's calls to the server work or fail. */
export function DiagnoseCard({ server }: { readonly server: string }) {
  const words = strings.diagnosis;
  const queryClient = useQueryClient();
  const { mutate, isPending, data, error } = useMutation({
    mutationFn: async () => ({ view: await diagnoseServer(server), at: Date.now() }),
    // The diagnosis may have connected the server or found it unreachable.
    onSettled: () => invalidateServers(queryClient),
  });
  const button = useRestoredFocus(isPending);
  const run = () => mutate();
  return (
    <Card className={styles['card']} aria-label={words.title}>
      <div className={styles['head']}>
        <div className={styles['words']}>
          <h2>{words.title}</h2>
          <p className={styles['muted']}>{words.text}</p>
        </div>
        <Button ref={button} icon={<Icon name="search" />} isBusy={isPending} onClick={run}>
          {isPending ? words.running : data ? words.again : words.run}
        </Button>
      </div>
      <p role="status" className={isPending ? undefined : styles['quiet']}>
        {isPending && words.runningText}
      </p>
      {!isPending && error !== null && <ErrorNotice error={error} onRetry={run} />}
      {!isPending && error === null && data && <DiagnosisResult view={data.view} at={data.at} />}
    </Card>
  );
}

function DiagnosisResult({ view, at }: { readonly view: DiagnosisView; readonly at: number }) {
  const words = strings.diagnosis;
  const { tone, title, text } = summarizeDiagnosis(view);
  const { checked, skipped } = splitSteps(view);
  if (view.steps.length === 0) return <Notice tone="warning" title={words.noSteps} />;
  return (
    <>
      <Notice tone={tone} title={title}>
        {text}
      </Notice>
      <ol className={styles['steps']} aria-label={words.listTitle}>
        {checked.map((step) => (
          <StepRow key={step.step} step={step} />
        ))}
      </ol>
      {skipped.length > 0 && (
        <details className={styles['skipped']}>
          <summary>{words.skipped(skipped.length)}</summary>
          <ol className={styles['steps']}>
            {skipped.map((step) => (
              <StepRow key={step.step} step={step} />
            ))}
          </ol>
        </details>
      )}
      <p className={styles['muted']}>{words.checkedAt(formatTimeOrDate(at))}</p>
    </>
  );
}

/** Restores the focus to a button that was temporarily disabled. */
function useRestoredFocus(isBusy: boolean) {
  const buttonRef = useRef<HTMLButtonElement>(null);
  const wasBusy = useRef(isBusy);
  useEffect(() => {
    if (wasBusy.current && !isBusy && document.activeElement === document.body) buttonRef.current?.focus();
    wasBusy.current = isBusy;
  }, [isBusy]);
  return buttonRef;
}

/** Shorter durations are not shown. */
const SLOW_MS = 100;

/** A step of the diagnosis: outcome, finding and action. */
function StepRow({ step }: { readonly step: DiagnosisStep }) {
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

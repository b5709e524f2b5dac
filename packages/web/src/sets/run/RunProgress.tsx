import type { RunStepView, RunView, ToolResult } from '@behalf/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { explainErrorCode } from '../../api/explain.ts';
import { encodeSegment } from '../../api/request.ts';
import { useServerTitleLookup } from '../../api/servers.ts';
import { cancelRun, resumeRun, runQuery, runsQuery } from '../../api/sets.ts';
import styles from '../../blocks/run/BlockRunner.module.css';
import { ConnectCard } from '../../call/ConnectCard.tsx';
import { connectControllers } from '../../connect/pageConnectControllers.ts';
import { ResultView } from '../../result/ResultView.tsx';
import { strings } from '../../strings/strings.ts';
import history from '../../tools/RunHistory.module.css';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { formatTimeOrDate } from '../../ui/format.ts';
import { runTones } from '../../ui/stateTones.ts';

/** One run, step by step. It runs on the gateway; this page shows, cancels and resumes it. */
export function RunProgress({ id, set }: { readonly id: string; readonly set: string }) {
  const words = strings.sets.run;
  const queryClient = useQueryClient();
  const { data: run, error } = useQuery(runQuery(id));
  const changeMutation = useMutation({
    mutationFn: (change: (id: string) => Promise<RunView>) => change(id),
    onSuccess: (next) => {
      queryClient.setQueryData(runQuery(id).queryKey, next);
      return queryClient.invalidateQueries({ queryKey: runsQuery(set).queryKey });
    },
  });
  if (!run) return error === null ? <Skeleton lines={4} /> : <ErrorNotice error={error} />;
  const done = run.steps.filter(({ state }) => state === 'succeeded').length;
  return (
    <Card className={styles['needs']} aria-label={words.current} aria-busy={run.state === 'running'}>
      <div className={styles['actions']}>
        <h2>{words.current}</h2>
        <Badge tone={runTones[run.state]}>{words.runStates[run.state]}</Badge>
        <span className={styles['muted']}>{words.progress(done, run.steps.length)}</span>
        {(run.state === 'running' || run.state === 'interrupted') && (
          <Button
            size="small"
            isBusy={changeMutation.isPending || run.isCancelling}
            onClick={() => changeMutation.mutate(cancelRun)}
          >
            {run.isCancelling ? words.cancelling : words.cancel}
          </Button>
        )}
        {run.resumable && (
          <Button
            size="small"
            isBusy={changeMutation.isPending}
            onClick={() => changeMutation.mutate(resumeRun)}
          >
            {words.resume}
          </Button>
        )}
      </div>
      <p className="visually-hidden" role="status">
        {`${words.runStates[run.state]}. ${words.progress(done, run.steps.length)}`}
      </p>
      {run.state === 'interrupted' && <Notice tone="warning" title={words.interrupted} />}
      {changeMutation.error !== null && <ErrorNotice error={changeMutation.error} />}
      <ol className={styles['needs']}>
        {run.steps.map((step, index) => (
          <li key={step.key} className={styles['group']}>
            <div className={styles['actions']}>
              <h3>{words.stepOf(index + 1, step.title)}</h3>
              <Badge tone={runTones[step.state]}>{words.stepStates[step.state]}</Badge>
            </div>
            <StepOutcome step={step} set={set} onSignedIn={() => changeMutation.mutate(resumeRun)} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

function StepOutcome({
  step,
  set,
  onSignedIn,
}: {
  readonly step: RunStepView;
  readonly set: string;
  readonly onSignedIn: () => void;
}) {
  const words = strings.sets.run;
  const serverTitle = useServerTitleLookup();
  const { state, wait, code, result, isResultLost } = step;
  if (wait?.kind === 'sign_in') {
    const { reason, connectUrl } = wait;
    return (
      <ConnectCard
        connect={{ server: wait.server, title: serverTitle(wait.server), reason, connectUrl }}
        returnTo={`/sets/${encodeSegment(set)}`}
        nextStepText={words.afterSignIn}
        onStart={async (wanted) => {
          if (await connectControllers.get(wait.server).begin(wanted)) onSignedIn();
        }}
      />
    );
  }
  if (wait?.kind === 'approval') return <Notice tone="warning" title={words.needsApproval} />;
  if (state === 'uncertain') return <Notice tone="danger" title={words.uncertain} />;
  const explanation = code === undefined ? undefined : explainErrorCode(code);
  return (
    <>
      {explanation && (
        <Notice tone="danger" title={explanation.title} isSilent>
          {explanation.text}
        </Notice>
      )}
      {isResultLost && <p className={styles['hint']}>{words.resultDiscarded}</p>}
      {result && <ResultView result={result as ToolResult} />}
    </>
  );
}

/** The user's own runs of a set, the latest first. */
export function PastRuns({
  set,
  shownRun,
  onSelect,
}: {
  readonly set: string;
  readonly shownRun: string | null;
  readonly onSelect: (run: string) => void;
}) {
  const words = strings.sets.run;
  const { data: runs } = useQuery(runsQuery(set));
  if (!runs) return null;
  return (
    <section className={history['history']} aria-label={words.yourRuns}>
      <h2>{words.yourRuns}</h2>
      <p className={history['hint']}>{runs.length === 0 ? words.noRuns : words.yourRunsHint}</p>
      <ul className={history['list']}>
        {runs.map(({ id, state, createdAt, done, total }) => (
          <li key={id} className={history['past']}>
            <div className={history['summary']}>
              <Badge tone={runTones[state]}>{words.runStates[state]}</Badge>
              <Button
                size="small"
                variant="quiet"
                aria-current={id === shownRun}
                onClick={() => onSelect(id)}
              >
                {words.runOf(formatTimeOrDate(createdAt))}
              </Button>
              <span className={history['facts']}>{words.progress(done, total)}</span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

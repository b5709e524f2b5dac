import { ProgressView } from '../call/ProgressView.tsx';
import { formatDuration } from '../hooks/formatTime.ts';
import { strings } from '../strings/strings.ts';
import { RunBadge } from './RunBadge.tsx';
import type { Run } from './run.ts';
import { RunOutcome } from './RunOutcome.tsx';
import { runStateText } from './runStateText.ts';
import styles from './RunView.module.css';

/** The last run of a tool: how far it is, and what came of it. */
export function RunView({ run }: { readonly run: Run }) {
  const words = strings.tools.run;
  const { state, tool, toolTitle, durationMs, progress } = run;
  const isRunning = state === 'running';
  const isPending = isRunning || state === 'waiting' || state === 'held';
  return (
    <section className={styles['run']} aria-label={words.title} aria-busy={isRunning}>
      <div className={styles['head']}>
        <h3>{words.title}</h3>
        <RunBadge run={run} />
        {durationMs !== undefined && !isPending && (
          <span className={styles['duration']}>{formatDuration(durationMs)}</span>
        )}
      </div>
      <p className="visually-hidden" role="status">
        {words.announced(runStateText(run), toolTitle || tool)}
      </p>
      {isRunning && <ProgressView progress={progress ?? {}} />}
      <Logs run={run} />
      <RunOutcome run={run} />
    </section>
  );
}

function Logs({ run: { logs } }: { readonly run: Run }) {
  const words = strings.tools.run;
  if (logs.length === 0) return null;
  return (
    <details className={styles['logs']} open>
      <summary>{words.logs}</summary>
      <ul tabIndex={0} className={styles['lines']} aria-label={words.logs}>
        {logs.map(({ level, text }, index) => (
          <li key={index}>
            <span className={styles['level']}>{level}</span> {text}
          </li>
        ))}
      </ul>
    </details>
  );
}

import { useState } from 'react';
import { useStore } from '../app/store.ts';
import { TitleOrId } from '../ui/Identity.tsx';
import { formatDuration, formatTimeOrDate } from '../ui/format.ts';
import { ArgumentsView } from '../result/ResultView.tsx';
import { AuthorityBadge } from '../result/AuthorityBadge.tsx';
import type { JsonRecord } from '../result/json.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import { runs } from './pageRuns.ts';
import { RunBadge, RunOutcome } from './RunView.tsx';
import styles from './RunHistory.module.css';
import type { Run } from './runs.ts';
import type { ToolRef } from './ToolConsole.tsx';

/** The runs since the page was opened, except the one that is shown. */
export function RunHistory({
  current,
  onReuse,
}: {
  readonly current: ToolRef | undefined;
  readonly onReuse: (choice: ToolRef, args: JsonRecord) => void;
}) {
  const words = strings.tools.run;
  // Runs of blocks are shown with their blocks.
  const toolRuns = useStore(runs.list).filter(({ block }) => block === undefined);
  const shownRun = toolRuns.find(({ server, tool }) => server === current?.server && tool === current.tool);
  const otherRuns = toolRuns.filter((run) => run !== shownRun);
  if (otherRuns.length === 0) return null;
  return (
    <section className={styles['history']} aria-labelledby="history">
      <h3 id="history">{words.history}</h3>
      <p className={styles['hint']}>{words.historyHint}</p>
      <ul className={styles['list']}>
        {otherRuns.map((run) => (
          <li key={run.id}>
            <PastRun run={run} onReuse={onReuse} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function PastRun({
  run,
  onReuse,
}: {
  readonly run: Run;
  readonly onReuse: (choice: ToolRef, args: JsonRecord) => void;
}) {
  const words = strings.tools.run;
  const [isOpen, setOpen] = useState(false);
  const { server, serverTitle, tool, toolTitle, args, startedAt, durationMs, authority } = run;
  return (
    <details className={styles['past']} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={styles['summary']}>
        <Icon name="chevron" size={16} />
        <RunBadge run={run} />
        <TitleOrId name={tool} title={toolTitle} className={styles['tool']} />
        <span className={styles['facts']}>
          {[serverTitle, durationMs !== undefined && formatDuration(durationMs), formatTimeOrDate(startedAt)]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </summary>
      {isOpen && (
        <div className={styles['body']}>
          {authority && <AuthorityBadge authority={authority} />}
          <ArgumentsView args={args} />
          <RunOutcome run={run} />
          <div>
            <Button size="small" onClick={() => onReuse({ server, tool }, args)}>
              {words.useArguments}
            </Button>
          </div>
        </div>
      )}
    </details>
  );
}

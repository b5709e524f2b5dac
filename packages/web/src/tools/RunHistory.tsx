import { useState } from 'react';
import { useStore } from '../app/store.ts';
import { TitledName } from '../call/TitledName.tsx';
import { formatDuration, formatTimeOrDate } from '../hooks/formatTime.ts';
import { ArgumentsView } from '../result/ArgumentsView.tsx';
import { AuthorityBadge } from '../result/AuthorityBadge.tsx';
import type { JsonRecord } from '../result/isRecord.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import { runs } from './pageRuns.ts';
import { RunBadge } from './RunBadge.tsx';
import styles from './RunHistory.module.css';
import type { Run } from './run.ts';
import { RunOutcome } from './RunOutcome.tsx';
import type { ToolChoice } from './ToolConsole.tsx';

/** What was run since the page was opened, but for the run that is shown anyway. */
export function RunHistory({
  current,
  onFill,
}: {
  readonly current: ToolChoice | undefined;
  readonly onFill: (choice: ToolChoice, args: JsonRecord) => void;
}) {
  const words = strings.tools.run;
  // Those of blocks are shown with their blocks.
  const all = useStore(runs.list).filter(({ block }) => block === undefined);
  const shown = all.find(({ server, tool }) => server === current?.server && tool === current.tool);
  const others = all.filter((run) => run !== shown);
  if (others.length === 0) return null;
  return (
    <section className={styles['history']} aria-labelledby="history">
      <h3 id="history">{words.history}</h3>
      <p className={styles['hint']}>{words.historyHint}</p>
      <ul className={styles['list']}>
        {others.map((run) => (
          <li key={run.id}>
            <Past run={run} onFill={onFill} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Past({
  run,
  onFill,
}: {
  readonly run: Run;
  readonly onFill: (choice: ToolChoice, args: JsonRecord) => void;
}) {
  const words = strings.tools.run;
  const [isOpen, setOpen] = useState(false);
  const { server, serverTitle, tool, toolTitle, args, startedAt, durationMs, authority } = run;
  return (
    <details className={styles['past']} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={styles['summary']}>
        <Icon name="chevron" size={16} />
        <RunBadge run={run} />
        <TitledName name={tool} title={toolTitle} className={styles['tool']} />
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
            <Button size="small" onClick={() => onFill({ server, tool }, args)}>
              {words.again}
            </Button>
          </div>
        </div>
      )}
    </details>
  );
}

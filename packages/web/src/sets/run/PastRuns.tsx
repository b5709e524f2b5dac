import { useQuery } from '@tanstack/react-query';
import { runsQuery } from '../../api/sets.ts';
import { formatTimeOrDate } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';
import history from '../../tools/RunHistory.module.css';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { runTones } from './runTones.ts';

/** The caller's own runs of a set, the latest first. */
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

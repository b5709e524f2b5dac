import type { StatsView } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import { Card } from '../../ui/Card.tsx';
import { CodeWords } from '../CodeWords.tsx';
import { formatNumber } from '../formatNumber.ts';
import styles from './Counters.module.css';
import { counted } from './figures.ts';

/** How exchanges and refreshes of tokens ended. The gateway tells operators alone: it is of all tenants. */
export function Counters({ stats: { exchanges, refreshes } }: { readonly stats: StatsView }) {
  const { counters } = strings.admin;
  if (!exchanges && !refreshes) return null;
  return (
    <section className={styles['counters']} aria-label={counters.title}>
      <div>
        <h2>{counters.title}</h2>
        <p className={styles['lead']}>{counters.lead}</p>
      </div>
      <div className={styles['cards']}>
        {exchanges && (
          <Counter
            title={counters.exchanges}
            note={counters.requests(formatNumber(exchanges.requests))}
            outcomes={exchanges.outcomes}
            empty={counters.noExchanges}
          />
        )}
        {refreshes && (
          <Counter
            title={counters.refreshes}
            outcomes={refreshes.outcomes}
            words={counters.refreshOutcomes}
            empty={counters.noRefreshes}
          />
        )}
      </div>
    </section>
  );
}

function Counter({
  title,
  note,
  outcomes,
  words,
  empty,
}: {
  readonly title: string;
  readonly note?: string;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly words?: Readonly<Record<string, string>>;
  readonly empty: string;
}) {
  const { counters } = strings.admin;
  const rows = counted(outcomes);
  return (
    <Card className={styles['card']}>
      <h3>{title}</h3>
      {rows.length === 0 ? (
        <p className={styles['lead']}>{empty}</p>
      ) : (
        <dl>
          {rows.map(([outcome, count]) => (
            <div key={outcome} className={styles['row']}>
              <dt>
                {outcome === 'ok' ? counters.ok : <CodeWords code={outcome} {...(words && { words })} />}
              </dt>
              <dd>{formatNumber(count)}</dd>
            </div>
          ))}
        </dl>
      )}
      {note !== undefined && rows.length > 0 && <p className={styles['lead']}>{note}</p>}
    </Card>
  );
}

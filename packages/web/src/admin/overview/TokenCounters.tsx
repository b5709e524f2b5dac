import type { StatsView } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import { Card } from '../../ui/Card.tsx';
import { CodeLabel } from '../CodeLabel.tsx';
import { formatNumber } from '../../ui/format.ts';
import styles from './TokenCounters.module.css';
import { sortOutcomes } from './statistics.ts';

/** Outcomes of token exchanges and refreshes. Only operators receive them: they cover all tenants. */
export function TokenCounters({ stats: { exchanges, refreshes } }: { readonly stats: StatsView }) {
  const { tokens } = strings.admin;
  if (!exchanges && !refreshes) return null;
  return (
    <section className={styles['counters']} aria-label={tokens.title}>
      <div>
        <h2>{tokens.title}</h2>
        <p className={styles['lead']}>{tokens.lead}</p>
      </div>
      <div className={styles['cards']}>
        {exchanges && (
          <Counter
            title={tokens.exchanges}
            note={tokens.requests(formatNumber(exchanges.requests))}
            outcomes={exchanges.outcomes}
            empty={tokens.noExchanges}
          />
        )}
        {refreshes && (
          <Counter
            title={tokens.refreshes}
            outcomes={refreshes.outcomes}
            labels={tokens.refreshOutcomes}
            empty={tokens.noRefreshes}
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
  labels,
  empty,
}: {
  readonly title: string;
  readonly note?: string;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly empty: string;
}) {
  const { tokens } = strings.admin;
  const rows = sortOutcomes(outcomes);
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
                {outcome === 'ok' ? tokens.ok : <CodeLabel code={outcome} {...(labels && { labels })} />}
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

import type { StatsView } from '@behalf/contracts';
import { useState } from 'react';
import { Link } from 'wouter';
import { segment } from '../../api/request.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { formatNumber, formatShare } from '../formatNumber.ts';
import { useServerTitles } from '../useServerTitles.ts';
import { CallsChart } from './CallsChart.tsx';
import { busiestFirst, momentsOf, sum, type ServerStats } from './figures.ts';
import { LatencyChart } from './LatencyChart.tsx';
import styles from './ServerCards.module.css';

/** As many as one looks at; the others come when they are asked for. */
const SHOWN_AT_ONCE = 8;
/** Under this name the gateway counts what is too much to be told apart. */
const OTHERS = '(others)';

export function ServerCards({ stats }: { readonly stats: StatsView }) {
  const { overview } = strings.admin;
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const titles = useServerTitles();
  const servers = busiestFirst(stats.servers);
  const left = servers.length - shown;
  return (
    <>
      <ul className={styles['cards']}>
        {servers.slice(0, shown).map((server) => (
          <li key={server.server}>
            <ServerCard
              server={server}
              title={titles.get(server.server) ?? server.server}
              moments={momentsOf(stats, server.calls.length)}
            />
          </li>
        ))}
      </ul>
      {left > 0 && (
        <div>
          <Button onClick={() => setShown(shown + SHOWN_AT_ONCE)}>{overview.moreServers(left)}</Button>
        </div>
      )}
    </>
  );
}

function ServerCard({
  server,
  title,
  moments,
}: {
  readonly server: ServerStats;
  readonly title: string;
  readonly moments: readonly number[];
}) {
  const { overview } = strings.admin;
  const calls = sum(server.calls);
  const errors = sum(server.errors);
  return (
    <Card className={styles['card']}>
      <header className={styles['header']}>
        <h2>
          {server.server === OTHERS ? (
            overview.others
          ) : (
            <Link href={`/servers/${segment(server.server)}`}>{title}</Link>
          )}
        </h2>
        <p>
          {overview.callsAndErrors(
            overview.countCalls(calls, formatNumber(calls)),
            overview.countErrors(errors, formatNumber(errors)),
            formatShare(errors, calls),
          )}
        </p>
      </header>
      <CallsChart title={overview.callsChart} calls={server.calls} errors={server.errors} moments={moments} />
      <LatencyChart title={overview.latencyChart} p50={server.p50} p95={server.p95} moments={moments} />
    </Card>
  );
}

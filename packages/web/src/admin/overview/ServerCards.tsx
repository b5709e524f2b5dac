import type { StatsView } from '@behalf/contracts';
import { useState } from 'react';
import { Link } from 'wouter';
import { encodeSegment } from '../../api/request.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { formatNumber, formatShare } from '../../ui/format.ts';
import { useServerTitles } from '../../api/admin.ts';
import { CallsChart, LatencyChart } from './ServerCharts.tsx';
import { sortByCalls, bucketTimes, sum, type ServerStats } from './statistics.ts';
import styles from './ServerCards.module.css';

/** Servers shown initially and per click. */
const PAGE_SIZE = 8;
/** Name under which the gateway counts the servers beyond its limit per tenant. */
const OTHERS = '(others)';

export function ServerCards({ stats }: { readonly stats: StatsView }) {
  const { overview } = strings.admin;
  const [shownCount, setShownCount] = useState(PAGE_SIZE);
  const titles = useServerTitles();
  const servers = sortByCalls(stats.servers);
  const hiddenCount = servers.length - shownCount;
  return (
    <>
      <ul className={styles['cards']}>
        {servers.slice(0, shownCount).map((server) => (
          <li key={server.server}>
            <ServerCard
              server={server}
              title={titles.get(server.server) ?? server.server}
              moments={bucketTimes(stats, server.calls.length)}
            />
          </li>
        ))}
      </ul>
      {hiddenCount > 0 && (
        <div>
          <Button onClick={() => setShownCount(shownCount + PAGE_SIZE)}>
            {overview.moreServers(hiddenCount)}
          </Button>
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
            overview.otherServers
          ) : (
            <Link href={`/servers/${encodeSegment(server.server)}`}>{title}</Link>
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
      <CallsChart title={overview.callsChart} calls={server.calls} errors={server.errors} times={moments} />
      <LatencyChart title={overview.latencyChart} p50={server.p50} p95={server.p95} moments={moments} />
    </Card>
  );
}

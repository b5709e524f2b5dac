import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import { type StatsRange, connectionsQuery, statsQuery } from '../../api/admin.ts';
import { strings } from '../../strings/strings.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { SegmentedControl } from '../../ui/SegmentedControl.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { formatNumber, formatShare } from '../../ui/format.ts';
import { Metrics } from '../Metrics.tsx';
import { OpenBreakers } from '../connections/OpenBreakers.tsx';
import styles from './OverviewPanel.module.css';
import { ServerCards } from './ServerCards.tsx';
import { CallsChart } from './ServerCharts.tsx';
import { TokenCounters } from './TokenCounters.tsx';
import { bucketTimes, sum, sumServers } from './statistics.ts';

const ranges: readonly StatsRange[] = ['hour', 'day'];

/** Overview: open circuit breakers first, then the calls of the last hour or day. */
export function OverviewPanel() {
  const { overview } = strings.admin;
  const [params, setParams] = useSearchParams();
  const range: StatsRange = params.get('range') === 'day' ? 'day' : 'hour';
  const { data, error, refetch } = useQuery(statsQuery(range));
  // The breaker notice is above the figures. They wait for it so that they do not move down.
  const isWaiting = useQuery(connectionsQuery).isPending || !data;
  const all = data && sumServers(data.servers);
  return (
    <Page
      title={overview.title}
      isWide
      lead={overview.replica(data?.replica ?? strings.admin.pending)}
      actions={
        <SegmentedControl
          label={overview.range}
          value={range}
          options={ranges.map((value) => ({ value, label: overview.ranges[value] }))}
          onChange={(next) => setParams(next === 'hour' ? {} : { range: next }, { replace: true })}
        />
      }
    >
      <OpenBreakers />
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isWaiting && !error && <Skeleton lines={12} />}
      {!isWaiting && all && (
        <>
          <OverviewMetrics calls={all.calls} errors={all.errors} range={range} />
          {data.servers.length === 0 ? (
            <EmptyState icon="chart" title={overview.emptyTitle(overview.ranges[range])}>
              {overview.emptyText}
            </EmptyState>
          ) : (
            <>
              <section className={styles['all']} aria-label={overview.allServers}>
                <CallsChart
                  title={overview.callsToAllServers}
                  calls={all.calls}
                  errors={all.errors}
                  times={bucketTimes(data, all.calls.length)}
                />
              </section>
              <ServerCards stats={data} />
            </>
          )}
          <TokenCounters stats={data} />
        </>
      )}
    </Page>
  );
}

/** Key figures. */
function OverviewMetrics({
  calls,
  errors,
  range,
}: {
  readonly calls: readonly number[];
  readonly errors: readonly number[];
  readonly range: StatsRange;
}) {
  const { overview, charts } = strings.admin;
  const totals = useQuery(connectionsQuery).data?.totals;
  const [callCount, errorCount] = [sum(calls), sum(errors)];
  const open = totals && totals.shared + totals.user + (totals.stateless ?? 0);
  return (
    <Metrics
      figures={[
        { name: overview.calls, value: formatNumber(callCount), note: overview.ranges[range] },
        {
          name: overview.errors,
          value: formatNumber(errorCount),
          note: overview.shareOfCalls(formatShare(errorCount, callCount)),
          isProblem: errorCount > 0,
        },
        {
          name: overview.openConnections,
          value: open === undefined ? charts.noValue : formatNumber(open),
          note: overview.now,
        },
        {
          name: overview.openBreakers,
          value: totals ? formatNumber(totals.breakersOpen) : charts.noValue,
          note: overview.now,
          isProblem: (totals?.breakersOpen ?? 0) > 0,
        },
      ]}
    />
  );
}

import { useQuery } from '@tanstack/react-query';
import { connectionsQuery, type StatsRange } from '../../api/admin.ts';
import { strings } from '../../strings/strings.ts';
import { formatNumber, formatShare } from '../formatNumber.ts';
import { Metrics } from '../Metrics.tsx';
import { sum } from './statistics.ts';

/** The few numbers one looks at first. */
export function OverviewMetrics({
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

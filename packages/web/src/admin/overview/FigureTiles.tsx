import { useQuery } from '@tanstack/react-query';
import { connectionsQuery, type StatsRange } from '../../api/admin.ts';
import { strings } from '../../strings/strings.ts';
import { formatNumber, formatShare } from '../formatNumber.ts';
import { Figures } from '../Figures.tsx';
import { sum } from './figures.ts';

/** The few numbers one looks at first. */
export function FigureTiles({
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
  const [called, failed] = [sum(calls), sum(errors)];
  const open = totals && totals.shared + totals.user + (totals.stateless ?? 0);
  return (
    <Figures
      figures={[
        { name: overview.calls, value: formatNumber(called), note: overview.ranges[range] },
        {
          name: overview.errors,
          value: formatNumber(failed),
          note: overview.shareOfCalls(formatShare(failed, called)),
          isBad: failed > 0,
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
          isBad: (totals?.breakersOpen ?? 0) > 0,
        },
      ]}
    />
  );
}

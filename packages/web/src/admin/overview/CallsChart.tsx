import { strings } from '../../strings/strings.ts';
import { Chart } from '../charts/Chart.tsx';
import { formatClock } from '../charts/formatClock.ts';
import { formatNumber } from '../formatNumber.ts';
import { findPeak, sum } from './statistics.ts';

export function CallsChart({
  title,
  calls,
  errors,
  times,
}: {
  readonly title: string;
  readonly calls: readonly number[];
  readonly errors: readonly number[];
  readonly times: readonly number[];
}) {
  const { overview } = strings.admin;
  const peak = findPeak(calls);
  const summary = overview.callsSummary(
    overview.countCalls(sum(calls), formatNumber(sum(calls))),
    overview.countErrors(sum(errors), formatNumber(sum(errors))),
    formatNumber(peak?.value ?? 0),
    formatClock(times[peak?.index ?? 0]),
  );
  return (
    <Chart
      title={title}
      summary={summary}
      moments={times}
      format={formatNumber}
      series={[
        { name: overview.calls, tone: 'accent', shape: 'bars', values: calls },
        { name: overview.errors, tone: 'danger', shape: 'bars', values: errors },
      ]}
    />
  );
}

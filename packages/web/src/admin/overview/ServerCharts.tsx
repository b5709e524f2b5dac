import { strings } from '../../strings/strings.ts';
import { formatClock, formatDuration, formatNumber } from '../../ui/format.ts';
import { Chart } from '../charts/Chart.tsx';
import { type ServerStats, findPeak, latestValue, sum } from './statistics.ts';

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

export function LatencyChart({
  title,
  p50,
  p95,
  moments,
}: Pick<ServerStats, 'p50' | 'p95'> & { readonly title: string; readonly moments: readonly number[] }) {
  const { overview } = strings.admin;
  const slowest = findPeak(p95);
  const summary = overview.latencySummary(
    formatDuration(latestValue(p50) ?? 0),
    formatDuration(latestValue(p95) ?? 0),
    formatDuration(slowest?.value ?? 0),
    formatClock(moments[slowest?.index ?? 0]),
  );
  return (
    <Chart
      title={title}
      summary={summary}
      moments={moments}
      format={formatDuration}
      series={[
        { name: overview.p95, tone: 'warning', shape: 'line', values: p95 },
        { name: overview.p50, tone: 'info', shape: 'line', values: p50 },
      ]}
    />
  );
}

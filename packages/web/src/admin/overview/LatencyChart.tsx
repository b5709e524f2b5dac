import { formatDuration } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';
import { Chart } from '../charts/Chart.tsx';
import { formatClock } from '../charts/formatClock.ts';
import { latestValue, findPeak, type ServerStats } from './statistics.ts';

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

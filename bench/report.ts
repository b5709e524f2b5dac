import type { BenchRow, Spread } from './cells.ts';
import type { StartReport } from './start.ts';

interface MemoryRow {
  part: string;
  name: string;
  kb_per_user: number[];
  heap_kb_per_user: number[];
}

/** The result of one part of the benchmark. */
export interface PartReport {
  rows?: (BenchRow | MemoryRow)[];
  ratios?: Record<string, number>;
  counts?: Record<string, number>;
  start?: StartReport;
}

export interface Report {
  rows: (BenchRow | MemoryRow)[];
  ratios: Record<string, number>;
  /** Counted values. */
  counts: Record<string, number>;
  /** The goals of the ratios and counts, if set. */
  goals: Record<string, string>;
  start?: StartReport;
}

/** Goals by the name of the ratio or count. */
const goals: Record<string, string> = {
  rest_vs_bare_proxy: 'at least 0.8',
  calltool_vs_direct: 'at least 1.5',
  added_p50_vs_proxy: 'at most 2.0',
  mcp_legacy_vs_bare_proxy: 'at least 0.75',
  mcp_modern_vs_bare_proxy: 'at least 0.75',
  mcp_legacy_vs_mcp_hub: 'at least 4',
  mcp_modern_vs_mcp_hub: 'at least 4',
  mcp_legacy_vs_fiberplane: 'at least 10',
  mcp_modern_vs_fiberplane: 'at least 10',
  mcp_legacy_added_p50_vs_proxy: 'at most 2.0',
  mcp_modern_added_p50_vs_proxy: 'at most 2.0',
  streams_1k_open: 'exactly 1000',
  streams_1k_kb_each: 'at most 100',
  streams_1k_fds_each: 'at most 1',
  streams_1k_fds_left: 'exactly 0',
  result_1mb_vs_proxy: 'at least 0.8',
  users_10k_vs_10: 'at least 0.8',
  hang_p99_ratio: 'at most 1.2',
  idle_kb_legacy: 'at most 40',
  idle_kb_modern: 'at most 2',
  list_1k_search_bytes: 'at most 4000',
  search_1k_found_of_20: 'exactly 20',
  search_1k_p50_ms: 'at most 5',
  lookup_p50_ms: 'at most 0.05',
  warm_vs_static: 'at least 0.9',
  cold_50_token_requests_entra: 'exactly 1',
  cold_50_token_requests_jwt_bearer: 'exactly 1',
  cold_3x50_token_requests_entra: 'exactly 1',
  cold_3x50_token_requests_jwt_bearer: 'exactly 1',
  users_100x20_token_requests_entra: 'exactly 100',
  users_100x20_token_requests_jwt_bearer: 'exactly 100',
  ...createStormGoals('storm_sqlite', 1),
  ...createStormGoals('storm_mongo_redis', 1),
  ...createStormGoals('rotations_50_sqlite', 50),
  ...createStormGoals('rotations_50_mongo_redis', 50),
  ...createStormGoals('storm_real_chain', 1),
  ...createStormGoals('killed_before_send_real_chain', 1),
  ...createStormGoals('killed_after_send_real_chain', 2),
  first_load_js_gzip_kb: 'at most 250',
  composer_ready_ms: 'under 2000',
  scroll_lines_longest_task_ms: 'at most 200',
  scroll_tools_longest_task_ms: 'at most 200',
  stream_other_renders: 'exactly 0',
};

/** Exactly one token request per token to refresh, and no lost grant. */
function createStormGoals(name: string, requests: number): Record<string, string> {
  return {
    [`${name}_token_requests`]: `exactly ${requests}`,
    [`${name}_families_revoked`]: 'exactly 0',
    [`${name}_failed_calls`]: 'exactly 0',
  };
}

/** The goals of the measured values. */
export function selectGoals({ ratios, counts }: Pick<Report, 'ratios' | 'counts'>): Record<string, string> {
  const measuredValues = { ...ratios, ...counts };
  return Object.fromEntries(Object.entries(goals).filter(([name]) => name in measuredValues));
}

/** Formats the report as Markdown tables, which are also readable in a terminal. */
export function printReport({ rows, ratios, counts, goals, start }: Report): string {
  const timedRows = rows.filter((row): row is BenchRow => 'calls_per_s' in row);
  const memoryResults = rows.filter((row): row is MemoryRow => 'kb_per_user' in row);
  const sections: string[] = [];
  if (timedRows.length > 0) {
    sections.push(
      formatTable(
        ['measured', 'callers', 'calls/s (min-max)', 'p50 ms', 'p95 ms', 'p99 ms', 'CPU us/call', 'RSS MB'],
        timedRows.map((row) => [
          row.name,
          String(row.concurrency),
          formatSpread(row.calls_per_s, 0),
          row.p50_ms.median.toFixed(2),
          row.p95_ms.median.toFixed(2),
          row.p99_ms.median.toFixed(2),
          row.cpu_us_per_call.median.toFixed(0),
          row.rss_mb.toFixed(0),
        ]),
      ),
    );
  }
  if (memoryResults.length > 0) {
    const formatList = (values: readonly number[]) => values.map((value) => value.toFixed(2)).join(', ');
    const memoryRows = memoryResults.map((row) => [
      row.name,
      formatList(row.kb_per_user),
      formatList(row.heap_kb_per_user),
    ]);
    sections.push(formatTable(['memory', 'KB per user, each round', 'of it on the heap'], memoryRows));
  }
  const ratioRows = Object.entries(ratios).map(([name, value]) => [
    name,
    // Shows small values with more digits.
    value.toFixed(value < 0.01 ? 4 : 3),
    goals[name] ?? '',
  ]);
  if (ratioRows.length > 0) sections.push(formatTable(['ratio', 'value', 'goal'], ratioRows));
  const countRows = Object.entries(counts).map(([name, value]) => [name, String(value), goals[name] ?? '']);
  if (countRows.length > 0) sections.push(formatTable(['count', 'value', 'goal'], countRows));
  if (start) {
    const startRows = Object.entries(start).map(([name, value]) => [name, String(value)]);
    sections.push(formatTable(['start', 'value'], startRows));
  }
  return `${sections.join('\n\n')}\n`;
}

function formatSpread({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}-${max.toFixed(digits)})`;
}

function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, i) =>
    Math.max(3, title.length, ...rows.map((row) => (row[i] ?? '').length)),
  );
  const formatLine = (cells: readonly string[]) =>
    `| ${widths.map((width, i) => (cells[i] ?? '').padEnd(width)).join(' | ')} |`;
  return [
    formatLine(header),
    formatLine(widths.map((width) => '-'.repeat(width))),
    ...rows.map(formatLine),
  ].join('\n');
}

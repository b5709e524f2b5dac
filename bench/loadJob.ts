/** What one cell of a table asks of the load generator. */
export interface LoadJob {
  port: number;
  /** Taken in turn by all callers together. */
  requests: readonly LoadRequest[];
  concurrency: number;
  ms: number;
  /** Goes on beyond `ms` until there were so many calls: for a warm-up in which everybody has a turn. */
  minCalls?: number;
  /** Stands in every good answer. */
  expectedText: string;
  /** `any`: also an error is an answer. Default: 200 alone. */
  status?: 'any';
  /** Waited before the next call. */
  pauseMs?: number;
}

export interface LoadRequest {
  /** Default: POST. */
  method?: 'GET' | 'POST';
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface LoadResult {
  calls: number;
  errors: number;
  /** What the first bad answer began with. */
  firstError?: string;
  calls_per_s: number;
  p50_ms: number;
  p95_ms: number;
  p99_ms: number;
}

/** From the latencies of one cell. */
export function summarizeLatencies(
  latencies: number[],
  elapsedMs: number,
): Omit<LoadResult, 'errors' | 'firstError'> {
  const sorted = Float64Array.from(latencies).sort();
  const percentileAt = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
  return {
    calls: sorted.length,
    calls_per_s: (sorted.length * 1_000) / elapsedMs,
    p50_ms: percentileAt(0.5),
    p95_ms: percentileAt(0.95),
    p99_ms: percentileAt(0.99),
  };
}

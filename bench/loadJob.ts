/** A job for the load generator. */
export interface LoadJob {
  port: number;
  /** Sent in order by all callers together. */
  requests: readonly LoadRequest[];
  concurrency: number;
  ms: number;
  /** Continues after `ms` until this many calls were made, for a warm-up of all users. */
  minCalls?: number;
  /** A text that every correct response contains. */
  expectedText: string;
  /** `any`: accepts errors as responses. Default: 200 only. */
  status?: 'any';
  /** Pause before the next call. */
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
  /** The start of the first wrong response. */
  firstError?: string;
  calls_per_s: number;
  p50_ms: number;
  p95_ms: number;
  p99_ms: number;
}

/** Summarizes the latencies of one cell. */
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

import type { LoadResult } from './loadJob.ts';
import { cpuMs, residentKb } from './processes.ts';

/** One thing to measure: it runs for a while and tells how it went. */
export interface Cell {
  readonly name: string;
  readonly concurrency: number;
  /** The process whose time and memory count. */
  readonly pid: number;
  run(ms: number): Promise<LoadResult>;
}

/** The middle of all rounds, with the best and the worst. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

export interface Row {
  part: string;
  name: string;
  concurrency: number;
  calls: number;
  errors: number;
  calls_per_s: Spread;
  p50_ms: Spread;
  p95_ms: Spread;
  p99_ms: Spread;
  cpu_us_per_call: Spread;
  rss_mb: number;
}

interface Sample extends LoadResult {
  cpu_us_per_call: number;
}

/** The samples of a cell, by round. */
export type Samples = ReadonlyMap<Cell, readonly Sample[]>;

export interface Rounds {
  part: string;
  rounds: number;
  ms: number;
  /** Before the first round: compilers, pools and sessions warm up. */
  warmMs: number;
  progress: (line: string) => void;
}

/**
 * Runs the cells in turn, round after round, so that whatever else the machine does meets all of them alike. A bad
 * answer fails the run: a figure over errors says nothing.
 */
export async function interleave(
  cells: readonly Cell[],
  { part, rounds, ms, warmMs, progress }: Rounds,
): Promise<{ rows: Row[]; samples: Samples }> {
  const samples = new Map<Cell, Sample[]>(cells.map((cell) => [cell, []]));
  for (const cell of cells) refuseErrors(cell, await cell.run(warmMs));
  for (let round = 1; round <= rounds; round += 1) {
    for (const cell of cells) {
      const before = cpuMs(cell.pid);
      const result = await cell.run(ms);
      refuseErrors(cell, result);
      const cpu = ((cpuMs(cell.pid) - before) * 1_000) / result.calls;
      samples.get(cell)?.push({ ...result, cpu_us_per_call: cpu });
    }
    const rates = cells.map((cell) => {
      const { calls_per_s: rate = 0, p50_ms: p50 = 0 } = samples.get(cell)?.at(-1) ?? {};
      return cell.concurrency === 1
        ? `${cell.name} ${p50.toFixed(2)} ms`
        : `${cell.name} ${Math.round(rate)}/s`;
    });
    progress(`${part} ${round}/${rounds}: ${rates.join(', ')}`);
  }
  return { rows: cells.map((cell) => rowOf(part, cell, samples.get(cell) ?? [])), samples };
}

function refuseErrors({ name }: Cell, { errors, calls, firstError = '' }: LoadResult): void {
  if (errors > 0)
    throw new Error(`${name}: ${errors} of ${calls} answers were bad. The first:\n${firstError}`);
  if (calls === 0) throw new Error(`${name}: not one call ended in time`);
}

function rowOf(part: string, cell: Cell, samples: readonly Sample[]): Row {
  const of = (key: 'calls_per_s' | 'p50_ms' | 'p95_ms' | 'p99_ms' | 'cpu_us_per_call') =>
    spread(samples.map((sample) => sample[key]));
  return {
    part,
    name: cell.name,
    concurrency: cell.concurrency,
    calls: samples.reduce((sum, { calls }) => sum + calls, 0),
    errors: 0,
    calls_per_s: of('calls_per_s'),
    p50_ms: of('p50_ms'),
    p95_ms: of('p95_ms'),
    p99_ms: of('p99_ms'),
    cpu_us_per_call: of('cpu_us_per_call'),
    rss_mb: round(residentKb(cell.pid) / 1024),
  };
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: round(median(values)), min: round(sorted[0] ?? 0), max: round(sorted.at(-1) ?? 0) };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle] ?? 0;
  return ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** The median over the rounds of what `of` makes of each round's samples. */
export function overRounds(samples: Samples, of: (at: (cell: Cell) => LoadResult) => number): number {
  return round(median(eachRound(samples, of)));
}

/** The quartiles of the same: how far to believe it. */
export function quartiles(
  samples: Samples,
  of: (at: (cell: Cell) => LoadResult) => number,
): readonly [number, number] {
  const sorted = eachRound(samples, of).sort((a, b) => a - b);
  const at = (q: number) => round(sorted[Math.floor(q * (sorted.length - 1))] ?? 0);
  return [at(0.25), at(0.75)];
}

function eachRound(samples: Samples, of: (at: (cell: Cell) => LoadResult) => number): number[] {
  const rounds = Math.min(...[...samples.values()].map((list) => list.length));
  return Array.from({ length: rounds }, (_, i) =>
    of((cell) => {
      const sample = samples.get(cell)?.[i];
      if (!sample) throw new Error(`${cell.name} was not measured`);
      return sample;
    }),
  );
}

export function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

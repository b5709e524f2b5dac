import type { LoadResult } from './loadJob.ts';
import { cpuMs, residentKb } from './processes.ts';

/** One measured configuration. */
export interface Cell {
  readonly name: string;
  readonly concurrency: number;
  /** The process whose CPU time and memory are measured. */
  readonly pid: number;
  run(ms: number): Promise<LoadResult>;
}

/** The median of all rounds, with minimum and maximum. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

export interface BenchRow {
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

interface RoundSample extends LoadResult {
  cpu_us_per_call: number;
}

/** The samples of a cell, by round. */
export type CellSamples = ReadonlyMap<Cell, readonly RoundSample[]>;

export interface RoundOptions {
  part: string;
  rounds: number;
  ms: number;
  /** Warm-up before the first round, for the JIT compiler, pools and sessions. */
  warmMs: number;
  progress: (line: string) => void;
}

/**
 * Runs the cells alternately for several rounds, so that other load on the machine affects all of them equally. A
 * wrong response fails the run.
 */
export async function interleave(
  cells: readonly Cell[],
  { part, rounds, ms, warmMs, progress }: RoundOptions,
): Promise<{ rows: BenchRow[]; samples: CellSamples }> {
  const samples = new Map<Cell, RoundSample[]>(cells.map((cell) => [cell, []]));
  for (const cell of cells) assertNoErrors(cell, await cell.run(warmMs));
  for (let roundToDigits = 1; roundToDigits <= rounds; roundToDigits += 1) {
    for (const cell of cells) {
      const before = cpuMs(cell.pid);
      const result = await cell.run(ms);
      assertNoErrors(cell, result);
      const cpu = ((cpuMs(cell.pid) - before) * 1_000) / result.calls;
      samples.get(cell)?.push({ ...result, cpu_us_per_call: cpu });
    }
    const rates = cells.map((cell) => {
      const { calls_per_s: rate = 0, p50_ms: p50 = 0 } = samples.get(cell)?.at(-1) ?? {};
      return cell.concurrency === 1
        ? `${cell.name} ${p50.toFixed(2)} ms`
        : `${cell.name} ${Math.round(rate)}/s`;
    });
    progress(`${part} ${roundToDigits}/${rounds}: ${rates.join(', ')}`);
  }
  return { rows: cells.map((cell) => toRow(part, cell, samples.get(cell) ?? [])), samples };
}

function assertNoErrors({ name }: Cell, { errors, calls, firstError = '' }: LoadResult): void {
  if (errors > 0)
    throw new Error(`${name}: ${errors} of ${calls} answers were bad. The first:\n${firstError}`);
  if (calls === 0) throw new Error(`${name}: not one call ended in time`);
}

function toRow(part: string, cell: Cell, samples: readonly RoundSample[]): BenchRow {
  const valueOf = (key: 'calls_per_s' | 'p50_ms' | 'p95_ms' | 'p99_ms' | 'cpu_us_per_call') =>
    computeSpread(samples.map((sample) => sample[key]));
  return {
    part,
    name: cell.name,
    concurrency: cell.concurrency,
    calls: samples.reduce((sum, { calls }) => sum + calls, 0),
    errors: 0,
    calls_per_s: valueOf('calls_per_s'),
    p50_ms: valueOf('p50_ms'),
    p95_ms: valueOf('p95_ms'),
    p99_ms: valueOf('p99_ms'),
    cpu_us_per_call: valueOf('cpu_us_per_call'),
    rss_mb: roundToDigits(residentKb(cell.pid) / 1024),
  };
}

export function computeSpread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: roundToDigits(median(values)),
    min: roundToDigits(sorted[0] ?? 0),
    max: roundToDigits(sorted.at(-1) ?? 0),
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle] ?? 0;
  return ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** The median over the rounds of a value computed from each round's samples. */
export function medianOverRounds(
  samples: CellSamples,
  valueOf: (percentileAt: (cell: Cell) => LoadResult) => number,
): number {
  return roundToDigits(median(valuesPerRound(samples, valueOf)));
}

/** The quartiles, as a measure of the spread. */
export function quartiles(
  samples: CellSamples,
  valueOf: (percentileAt: (cell: Cell) => LoadResult) => number,
): readonly [number, number] {
  const sorted = valuesPerRound(samples, valueOf).sort((a, b) => a - b);
  const percentileAt = (q: number) => roundToDigits(sorted[Math.floor(q * (sorted.length - 1))] ?? 0);
  return [percentileAt(0.25), percentileAt(0.75)];
}

function valuesPerRound(
  samples: CellSamples,
  valueOf: (percentileAt: (cell: Cell) => LoadResult) => number,
): number[] {
  const rounds = Math.min(...[...samples.values()].map((list) => list.length));
  return Array.from({ length: rounds }, (_, i) =>
    valueOf((cell) => {
      const sample = samples.get(cell)?.[i];
      if (!sample) throw new Error(`${cell.name} was not measured`);
      return sample;
    }),
  );
}

export function roundToDigits(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

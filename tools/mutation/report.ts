import { readFileSync } from 'node:fs';

/** The part of Stryker's JSON report that this tool reads (the schema of mutation-testing-elements). */
export interface StrykerReport {
  readonly files: Readonly<Record<string, { readonly mutants: readonly MutantResult[] }>>;
}

interface MutantResult {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: { readonly line: number; readonly column: number } };
}

export interface Score {
  readonly file: string;
  readonly killed: number;
  readonly all: number;
  /** One line per mutant that no test killed. */
  readonly survivors: readonly string[];
}

/** A mutant that hangs is detected: `npm test` would not pass with it. */
const KILLED = new Set(['Killed', 'Timeout']);
const ALIVE = new Set(['Survived', 'NoCoverage']);

/** The total score: mutants that no test executes count as well. Mutants that fail to load prove nothing and do not count. */
export function readScore(reportFile: string, file: string): Score {
  const report = JSON.parse(readFileSync(reportFile, 'utf8')) as StrykerReport;
  const mutants = report.files[file]?.mutants ?? [];
  const killed = mutants.filter(({ status }) => KILLED.has(status)).length;
  const alive = mutants.filter(({ status }) => ALIVE.has(status));
  return { file, killed, all: killed + alive.length, survivors: alive.map(describeMutant) };
}

export function formatScore({ killed, all }: Score): string {
  const percent = all === 0 ? '-' : `${((100 * killed) / all).toFixed(1)} %`;
  return `${killed}/${all} killed (${percent})`;
}

function describeMutant({
  mutatorName,
  replacement = '',
  status,
  location: { start },
}: MutantResult): string {
  const text = replacement.replace(/\s+/g, ' ').slice(0, 80);
  return `${status.padEnd(10)} ${start.line}:${start.column}  ${mutatorName}  ${text}`;
}

// `npm run mutants [-- --changed] [-- --id ID] [-- --base COMMIT] [-- --minutes N]`: proves that the tests of the security and race
// promises can fail. Each mutant is applied to a copy of the repository and its id's tests must go red.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mutants, type Mutant } from '../test/mutants.ts';
import { requirements } from '../test/requirements.ts';
import { changedFiles, dueMutants, findBase, gitIn, mutantsAt } from './mutants/changed.ts';
import { checkMutants } from './mutants/check.ts';
import { runTests } from './mutants/runTests.ts';
import { nearestFiles, testFilesById } from './mutants/testFiles.ts';
import { baselineProblem, judge, type Verdict } from './mutants/verdict.ts';
import { applyMutant, copyRepository } from './mutants/workspace.ts';
import { readSources, repositoryRoot as root } from './sources.ts';
import { findTools, toolVariables } from './system.mjs';

const workers = 2;
const baselineLimitMs = 120_000;
/** Longer than a single test may take, so that a test that hangs is told as failed and not as a hung run. */
const shortestLimitMs = 30_000;

const { values: options } = parseArgs({
  options: {
    changed: { type: 'boolean' },
    id: { type: 'string', multiple: true },
    base: { type: 'string' },
    minutes: { type: 'string' },
  },
});
/** No mutant is begun after this: what did not get its turn is counted out loud. */
const lastStart = performance.now() + Number(options.minutes ?? Infinity) * 60_000;
const testFiles = testFilesById(readSources(root));
const env = { ...process.env, ...toolVariables(findTools()) };

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});

async function main(): Promise<number> {
  const done = Object.keys(requirements).filter((id) => requirements[id]?.[0] === 'done');
  const problems = checkMutants(mutants, new Set(done), root);
  if (problems.length > 0) {
    process.stderr.write(`test/mutants does not fit the code:\n  ${problems.join('\n  ')}\n`);
    return 1;
  }
  const chosen = await choose();
  const scratch = mkdtempSync(join(tmpdir(), 'behalf-mutants-'));
  // On exit, so that an interrupted run leaves nothing behind either: test runs are in process groups of their own.
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

  let bad = 0;
  let tried = 0;
  const files = trackedFiles();
  const queue = inTurn([...groupById(chosen)]);
  const take = () => (performance.now() < lastStart ? queue.shift() : undefined);
  const work = async (name: string): Promise<void> => {
    const copy = join(scratch, name);
    await copyRepository(root, files, copy);
    for (let next = take(); next !== undefined; next = take()) {
      for await (const [mutant, verdict] of tryMutants(copy, ...next)) {
        tried += 1;
        if (verdict.result !== 'killed') bad += 1;
        print(mutant, verdict);
      }
    }
  };
  const names = Array.from({ length: Math.min(workers, queue.length) }, (_, i) => `copy-${i}`);
  await Promise.all(names.map(work));
  process.stdout.write(`${tried} mutants, ${tried - bad} killed, ${bad} not\n`);
  if (tried < chosen.length) {
    process.stdout.write(
      `${chosen.length - tried} more did not get their turn in ${options.minutes} minutes\n`,
    );
  }
  return bad === 0 ? 0 : 1;
}

async function choose(): Promise<Mutant[]> {
  if (options.id) {
    const unknown = options.id.filter((id) => !mutants.some((mutant) => mutant.id === id));
    if (unknown.length > 0) throw new Error(`No mutant has the id ${unknown.join(', ')}.`);
    return mutants.filter(({ id }) => options.id?.includes(id));
  }
  if (!options.changed && options.base === undefined) return [...mutants];
  const git = gitIn(root);
  const base = options.base ?? findBase(git);
  if (base === undefined) {
    process.stdout.write(
      'Nothing to compare with (no other branch, no earlier tag): running every mutant.\n',
    );
    return [...mutants];
  }
  const due = dueMutants(mutants, changedFiles(git, base), testFiles, await mutantsAt(git, base));
  process.stdout.write(`Changed since ${base}: ${due.length} of ${mutants.length} mutants\n`);
  return due;
}

/** Ignored files stay behind: a stale build in the copy would be code that no mutant touches. */
function trackedFiles(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  return listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
}

async function* tryMutants(copy: string, id: string, list: Mutant[]): AsyncGenerator<[Mutant, Verdict]> {
  const all = testFiles.get(id) ?? [];
  const baselines = new Map<string, Baseline>();
  for (const mutant of list) {
    const files = nearestFiles(all, mutant.file);
    const key = files.join('\0');
    const baseline = baselines.get(key) ?? (await runBaseline(copy, id, files));
    baselines.set(key, baseline);
    if (baseline.problem !== undefined) {
      yield [mutant, { result: 'error', note: baseline.problem }];
      continue;
    }
    let undo: () => Promise<void>;
    try {
      undo = await applyMutant(copy, mutant);
    } catch (error) {
      yield [
        mutant,
        { result: 'error', note: `cannot be applied: ${String(error).split('\n').slice(0, 3).join(' ')}` },
      ];
      continue;
    }
    try {
      const { limitMs } = baseline;
      let verdict = judge(await runTests({ copy, id, files, limitMs, env }));
      // The tests beside the code are asked first; the others have the last word.
      if (verdict.result === 'survived' && files.length < all.length) {
        verdict = judge(await runTests({ copy, id, files: all, limitMs: baselineLimitMs, env }));
      }
      yield [mutant, verdict];
    } finally {
      await undo();
    }
  }
}

interface Baseline {
  problem: string | undefined;
  limitMs: number;
}

async function runBaseline(copy: string, id: string, files: readonly string[]): Promise<Baseline> {
  const attempt = async (): Promise<Baseline> => {
    const start = performance.now();
    const outcome =
      files.length === 0
        ? { passed: 0, failed: 0, broken: undefined }
        : await runTests({ copy, id, files, limitMs: baselineLimitMs, env });
    const limitMs = Math.max(shortestLimitMs, 4 * (performance.now() - start));
    return { problem: baselineProblem(outcome), limitMs };
  };
  const first = await attempt();
  // Asked twice, because what is on trial is the mutant: that the tests pass is `npm test`'s to say.
  return first.problem === undefined ? first : attempt();
}

/** Under a time limit the same ids must not come first every time: the commit decides where the round begins. */
function inTurn<T>(groups: T[]): T[] {
  if (options.minutes === undefined || groups.length === 0) return groups;
  const commit = gitIn(root)('rev-parse', '--short=8', 'HEAD')?.trim() ?? '0';
  const first = Number.parseInt(commit, 16) % groups.length;
  return [...groups.slice(first), ...groups.slice(0, first)];
}

function groupById(list: readonly Mutant[]): Map<string, Mutant[]> {
  const groups = new Map<string, Mutant[]>();
  for (const mutant of list) groups.set(mutant.id, [...(groups.get(mutant.id) ?? []), mutant]);
  return groups;
}

function print({ id, file, find, replace }: Mutant, { result, note }: Verdict): void {
  process.stdout.write(`${result.padEnd(8)} ${id}  ${file}  (${note})\n`);
  if (result === 'killed') return;
  process.stdout.write(
    `           find    ${JSON.stringify(find)}\n           replace ${JSON.stringify(replace)}\n`,
  );
}

// `npm run mutants:handwritten [-- --changed] [-- --id ID] [-- --base COMMIT] [-- --minutes N]`: applies each change of
// test/mutants to a copy of the repository and runs the test that must fail.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { changedFiles, dueMutants, findBase, gitIn } from './mutants/changed.ts';
import { checkMutants, loadMutants, type Mutant } from './mutants/mutant.ts';
import { baselineProblem, evaluate, runTests, type MutantResult } from './mutants/runTests.ts';
import { applyMutant, copyRepository } from './mutants/workspace.ts';
import { repositoryRoot as root } from './sources.ts';
import { findTools, toolVariables } from './system.mjs';

const WORKERS = 2;
const BASELINE_LIMIT_MS = 120_000;
/** Longer than the time limit of a single test, so that jest reports a test that hangs as failed. */
const MIN_LIMIT_MS = 30_000;

const { values: options } = parseArgs({
  options: {
    changed: { type: 'boolean' },
    id: { type: 'string', multiple: true },
    base: { type: 'string' },
    minutes: { type: 'string' },
  },
});
const env = { ...process.env, ...toolVariables(findTools()) };

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});

async function main(): Promise<number> {
  const lists = await loadMutants(root);
  const all = [...lists.values()].flat();
  const problems = checkMutants(all, root);
  if (problems.length > 0) throw new Error(`test/mutants does not fit the code:\n  ${problems.join('\n  ')}`);
  const chosen = choose(lists, all);

  const scratch = mkdtempSync(join(tmpdir(), 'behalf-mutants-'));
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
  const files = trackedFiles();
  const queue = groupByTest(chosen);
  const lastStart = performance.now() + Number(options.minutes ?? Infinity) * 60_000;
  let run = 0;
  let killed = 0;
  const work = async (worker: number): Promise<void> => {
    const copy = join(scratch, String(worker));
    await copyRepository(root, files, copy);
    for (let group = queue.shift(); group && performance.now() < lastStart; group = queue.shift()) {
      for await (const [mutant, result] of runGroup(copy, group)) {
        run += 1;
        if (result.status === 'killed') killed += 1;
        print(mutant, result);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(WORKERS, queue.length) }, (_, worker) => work(worker)));
  process.stdout.write(`${killed} of ${run} mutants killed\n`);
  const left = chosen.length - run;
  if (left > 0)
    process.stdout.write(`${left} mutants did not run: the ${options.minutes} minutes are over\n`);
  return killed === run ? 0 : 1;
}

function choose(lists: ReadonlyMap<string, readonly Mutant[]>, all: readonly Mutant[]): readonly Mutant[] {
  if (options.id) {
    const unknown = options.id.filter((id) => !all.some((mutant) => mutant.id === id));
    if (unknown.length > 0) throw new Error(`No mutant has the id ${unknown.join(', ')}.`);
    return all.filter(({ id }) => options.id?.includes(id));
  }
  if (!options.changed && options.base === undefined) return all;
  const git = gitIn(root);
  const base = options.base ?? findBase(git);
  if (base === undefined) return all;
  const due = dueMutants(lists, changedFiles(git, base));
  process.stdout.write(`Changed since ${base}: ${due.length} of ${all.length} mutants\n`);
  return due;
}

function groupByTest(list: readonly Mutant[]): Mutant[][] {
  const groups = new Map<string, Mutant[]>();
  for (const mutant of list) {
    const key = JSON.stringify([mutant.test, mutant.title]);
    groups.set(key, [...(groups.get(key) ?? []), mutant]);
  }
  return [...groups.values()];
}

/** Ignored files are not copied: a build in the copy would be code that no mutant changes. */
function trackedFiles(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  return listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
}

/** Runs the mutants of one test: first the test on the unchanged code, then once for each mutant. */
async function* runGroup(copy: string, group: readonly Mutant[]): AsyncGenerator<[Mutant, MutantResult]> {
  const [{ test, title }] = group as readonly [Mutant];
  const start = performance.now();
  const baseline = await runTests({ copy, test, title, limitMs: BASELINE_LIMIT_MS, env });
  const limitMs = Math.max(MIN_LIMIT_MS, 4 * (performance.now() - start));
  const problem = baselineProblem(baseline);
  for (const mutant of group) {
    if (problem !== undefined) {
      yield [mutant, { status: 'error', note: problem }];
      continue;
    }
    const undo = await applyMutant(copy, mutant);
    const outcome = await runTests({ copy, test, title, limitMs, env }).finally(undo);
    yield [mutant, evaluate(outcome)];
  }
}

function print({ id, file, find, replace, test }: Mutant, { status, note }: MutantResult): void {
  process.stdout.write(`${status.padEnd(8)} ${id} (${note})\n`);
  if (status === 'killed') return;
  const details = { file, find: JSON.stringify(find), replace: JSON.stringify(replace), test };
  for (const [name, value] of Object.entries(details)) process.stdout.write(`  ${name.padEnd(8)} ${value}\n`);
}

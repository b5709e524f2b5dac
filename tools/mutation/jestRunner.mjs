// The jest runner of a mutation run. Stryker passes the names of the tests that cover a mutant, but jest would still load every
// test file to compare names. This runner loads only the files that contain such a test, and stops at the first file that fails.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

// jest-runner is a dependency of jest and need not be at the top of node_modules.
const requireFromJest = createRequire(createRequire(import.meta.url).resolve('jest/package.json'));
const requireFromCore = createRequire(requireFromJest.resolve('@jest/core'));
const { default: TestRunner } = requireFromCore('jest-runner');

export default class MutationRunner extends TestRunner {
  #hasFailed = false;
  #titles = {};

  constructor(...args) {
    super(...args);
    this.on('test-file-failure', () => {
      this.#hasFailed = true;
    });
    this.on('test-file-success', ([test, result]) => {
      if (result.numFailingTests > 0 || result.testExecError) this.#hasFailed = true;
      this.#titles[test.path] = result.testResults.map(({ fullName }) => fullName);
    });
  }

  async runTests(tests, watcher, options) {
    const { rootDir, testNamePattern, order } = this.#settings(tests);
    const ordered = [...tests].sort((a, b) => order.indexOf(a.path) - order.indexOf(b.path));
    const titlesFile = join(rootDir, '.mutation-titles.json');
    // Set by Stryker while it runs a mutant; absent in the dry run, which executes every test.
    if (process.env.__STRYKER_ACTIVE_MUTANT__ === undefined) {
      await super.runTests(ordered, watcher, options);
      writeFileSync(titlesFile, JSON.stringify(this.#titles));
      return;
    }
    const titles = JSON.parse(readFileSync(titlesFile, 'utf8'));
    const pattern = testNamePattern ? new RegExp(testNamePattern, 'i') : undefined;
    const isCovering = ({ path }) => !pattern || (titles[path] ?? ['']).some((title) => pattern.test(title));
    for (const test of ordered.filter(isCovering)) {
      if (this.#hasFailed) return;
      await super.runTests([test], watcher, options);
    }
  }

  #settings(tests) {
    const { rootDir, globals } = tests[0]?.context.config ?? { rootDir: process.cwd(), globals: {} };
    return {
      rootDir,
      testNamePattern: this._globalConfig.testNamePattern,
      order: globals.mutationTestOrder ?? [],
    };
  }
}

// The jest environment of a mutation run. One failing test is enough to kill a mutant, but jest's own `bail` only takes effect between
// files. With a mutant that stops every test of a file from settling, each further test would wait for its time limit.
// CommonJS because Stryker loads the environment with `require`.
const { TestEnvironment } = require('jest-environment-node');

module.exports = class FailFastEnvironment extends TestEnvironment {
  #hasFailed = false;

  async handleTestEvent(event) {
    // Set by Stryker while it runs a mutant; absent in the dry run, which executes every test.
    if (process.env.__STRYKER_ACTIVE_MUTANT__ === undefined) return;
    if (event.name === 'test_done' && event.test.errors.length > 0) this.#hasFailed = true;
    if (event.name === 'test_start' && this.#hasFailed) event.test.mode = 'skip';
  }
};

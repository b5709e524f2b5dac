// Before the first test: a gateway from its sources serves the interface that was built last.
import { ensureWebBuilt } from './build.mjs';

export default async function setUp() {
  try {
    await ensureWebBuilt();
  } catch (error) {
    // The tests of the interface fail by themselves; those of everything else are none the worse.
    process.stderr.write(`${error.message}\n`);
  }
}

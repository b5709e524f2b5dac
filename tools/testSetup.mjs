// Before the first test: builds the interface, which gateways in tests serve.
import { ensureWebBuilt } from './build.mjs';

export default async function setUp() {
  try {
    await ensureWebBuilt();
  } catch (error) {
    // Only the tests of the interface fail then.
    process.stderr.write(`${error.message}\n`);
  }
}

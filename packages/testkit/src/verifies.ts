import { it } from '@jest/globals';

/**
 * A test that keeps a promise of test/requirements.ts. The id stands in the title, so `jest -t '[id]'` finds exactly
 * the tests of one promise; unknown ids and promises without a test fail test/requirements.test.ts.
 */
export function verifies(id: string, claim: string, test: () => unknown, timeoutMs?: number): void {
  it(`[${id}] ${claim}`, async () => void (await test()), timeoutMs);
}

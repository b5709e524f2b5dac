import { flowErrors } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { signInReasons } from '../packages/gateway/src/credentials/signInRequired.ts';
import type { RefreshOutcome } from '../packages/gateway/src/credentials/vault/vault.ts';
import { strings } from '../packages/web/src/strings/strings.ts';

/** Every way in which a renewal ends; one more does not compile. */
const renewals: Readonly<Record<Exclude<RefreshOutcome, 'ok'>, true>> = {
  ...{ adopted: true, superseded: true, rejected: true, lost_rotation: true, early_refused: true },
  ...{ user_needed: true, client_refused: true, misconfigured: true, in_doubt: true, unavailable: true },
  ...{ moved: true, unintelligible: true },
};

describe('the words of a sign-in at a server', () => {
  test('there are some for each end of it, and for each reason to begin it', () => {
    const { errors, reasons } = strings.connect;
    expect(Object.keys(errors).sort()).toEqual([...flowErrors].sort());
    expect(Object.keys(reasons).sort()).toEqual([...signInReasons].sort());
    const reported = [
      ...Object.values(errors).flatMap(({ title, text }) => [title, text]),
      ...Object.values(reasons),
    ];
    for (const text of reported) expect(text).toMatch(/^[A-Z].{10,}/);
  });

  test('operators read in words how renewals ended', () => {
    expect(Object.keys(strings.admin.tokens.refreshOutcomes).sort()).toEqual(Object.keys(renewals).sort());
  });
});

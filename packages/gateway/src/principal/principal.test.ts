import { aUser } from '@behalf/testkit/suites';
import { describe, expect, test } from '@jest/globals';
import { principalKey, toPrincipal } from './principal.ts';

describe('the key of a principal', () => {
  test('is one per person, and no two share one', () => {
    const ada = toPrincipal(aUser({ id: 'ada', tenant: 'a' }), { via: 'bearer' });
    const again = toPrincipal(aUser({ id: 'ada', tenant: 'a' }), { via: 'session', session: 's' });
    const others = [
      ada,
      { ...ada, tenant: 'b' },
      { ...ada, userId: 'bob' },
      { tenant: 'a","ada', userId: '' },
      { tenant: '', userId: 'a","ada' },
    ];
    for (let turn = 0; turn < 2; turn += 1) {
      expect(principalKey(again)).toBe(principalKey(ada));
      expect(new Set(others.map(principalKey)).size).toBe(others.length);
    }
  });

  test('follows whatever may still change', () => {
    const whose = { tenant: 'a', userId: 'ada' };
    const before = principalKey(whose);
    whose.userId = 'bob';
    expect(principalKey(whose)).not.toBe(before);
  });
});

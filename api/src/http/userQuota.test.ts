import { describe, expect, test } from '@jest/globals';
import { createUserQuota } from './userQuota.ts';

describe('a quota', () => {
  test('names the limit of the user or of all users that an amount would exceed', () => {
    const quota = createUserQuota({ maxPerUser: 10, maxTotal: 15 });
    quota.add('ada', 10);
    expect([quota.exceeded('ada', 1), quota.exceeded('bob', 5), quota.exceeded('bob', 6)]).toEqual([
      'user',
      undefined,
      'total',
    ]);
    quota.add('ada', -4);
    expect([quota.exceeded('ada', 4), quota.used('ada'), quota.total]).toEqual([undefined, 6, 6]);
    quota.add('ada', -6);
    expect([quota.used('ada'), quota.total]).toEqual([0, 0]);
  });
});

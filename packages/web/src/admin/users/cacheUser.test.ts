import type { AdminUserView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { replaceUser } from './cacheUser.ts';

const user = (id: string, role: string) => ({ id, role }) as AdminUserView;

describe('a page of users', () => {
  test('shows what the gateway answered about one of them, and is the same page for all others', () => {
    const page = { users: [user('a', 'USER'), user('b', 'USER')], next: 'b' };
    expect(replaceUser(page, user('b', 'ADMIN'))).toEqual({
      users: [user('a', 'USER'), user('b', 'ADMIN')],
      next: 'b',
    });
    expect(replaceUser(page, user('c', 'ADMIN'))).toBe(page);
  });
});

import { verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { ada, define } from '../../test/toolcallRig.ts';
import { seesServer } from './seesServer.ts';

describe('who sees a server', () => {
  verifies('access.stored.author-only', 'one that a user stored is seen by that user alone', () => {
    const stored = define('mine', {}, { source: 'user', author: ada.userId });
    expect(seesServer(ada, stored)).toBe(true);
    for (const other of [
      { ...ada, userId: 'u-bob' },
      { ...ada, tenant: 'other' },
      { ...ada, userId: 'u-root', role: 'ADMIN' },
    ]) {
      expect([other, seesServer(other, stored)]).toEqual([other, false]);
    }
    expect(seesServer(ada, define('nobodys', {}, { source: 'user' }))).toBe(false);
  });

  verifies('access.stored.author-only', 'those of the operator are for everybody', () => {
    for (const source of ['yaml', 'config'] as const) {
      expect(seesServer({ ...ada, userId: 'u-bob' }, define('ours', {}, { source }))).toBe(true);
    }
  });
});

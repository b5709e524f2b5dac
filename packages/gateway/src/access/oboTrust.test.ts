import { describe, expect, test } from '@jest/globals';
import { silentChanges } from '../../test/accessRig.ts';
import { authoredBy, createOboTrustRig as createRig } from '../../test/oboTrustRig.ts';
import { defineServer } from '../../test/toolcallRig.ts';

describe('trust in who decides where tokens go', () => {
  test('the operator is trusted, and an editor whose role has the bit', async () => {
    const { trust, createUser } = await createRig();
    await createUser('bob');
    await createUser('off', { role: 'ADMIN', disabledAt: 1 });
    await createUser('away', { role: 'ADMIN', tenant: 'elsewhere' });
    await createUser('gone', { role: 'no such role' });
    expect(await trust.isTrusted(defineServer('s', {}, { source: 'yaml' }))).toBe(true);
    expect(await trust.isTrusted(authoredBy('root'))).toBe(true);
    for (const id of ['bob', 'off', 'away', 'gone', 'nobody', '']) {
      expect([id, await trust.isTrusted(authoredBy(id))]).toEqual([id, false]);
    }
    expect(await trust.isTrusted(authoredBy('root', false))).toBe(false);
    expect(await trust.isTrusted(defineServer('s', {}, { source: 'user', author: 'root' }))).toBe(false);
  });

  test('an administrator’s override rests on their word, unless it leaves the operator’s alone', async () => {
    const { trust, createUser } = await createRig();
    await createUser('bob');
    expect(await trust.isTrusted(authoredBy('root', true, 'config'))).toBe(true);
    expect(await trust.isTrusted(authoredBy('root', false, 'config'))).toBe(false);
    expect(await trust.isTrusted(authoredBy('bob', true, 'config'))).toBe(false);
    expect(await trust.isTrusted(defineServer('s', {}, { source: 'config' }))).toBe(false);
    const operators = { decidedBy: null, isIntact: true };
    expect(await trust.isTrusted({ ...authoredBy('', true, 'config'), securityDecision: operators })).toBe(
      true,
    );
    expect(await trust.isTrusted({ ...authoredBy('', true, 'user'), securityDecision: operators })).toBe(
      false,
    );
  });

  test('a lookup that fails is a no, and is not remembered', async () => {
    const { trust, fail } = await createRig();
    fail();
    expect(await trust.isTrusted(authoredBy('root'))).toBe(false);
    expect(trust.isTrusted(authoredBy('root'))).toBeInstanceOf(Promise);
  });

  test('it is known without a read, until somebody changes something', async () => {
    const { trust, readCount, roleAdmin, userAdmin, store, createUser } = await createRig();
    const root = await createUser('second', { role: 'ADMIN' });
    expect(await trust.isTrusted(authoredBy('root'))).toBe(true);
    expect([trust.isTrusted(authoredBy('root')), readCount()]).toEqual([true, 1]);
    await roleAdmin.change(root, 'ADMIN', { permissions: { CONFIGURE_OBO: false } }, null);
    expect(await trust.isTrusted(authoredBy('root'))).toBe(false);
    await roleAdmin.change(root, 'ADMIN', { permissions: { CONFIGURE_OBO: true } }, null);
    expect(await trust.isTrusted(authoredBy('root'))).toBe(true);
    await userAdmin.change(root, 'root', { role: 'USER' });
    expect(await trust.isTrusted(authoredBy('root'))).toBe(false);
    await store.changes.publish({ topic: 'users', id: '*' });
    expect(trust.isTrusted(authoredBy('root'))).toBeInstanceOf(Promise);
  });

  test('nothing older than two seconds counts', async () => {
    const { trust, store, clock, goDown } = await createRig(silentChanges);
    expect(await trust.isTrusted(authoredBy('root'))).toBe(true);
    await store.users.update('root', { role: 'USER' }, clock.now());
    await clock.advance(1_999);
    expect(await trust.isTrusted(authoredBy('root'))).toBe(true);
    await clock.advance(1);
    expect(await trust.isTrusted(authoredBy('root'))).toBe(false);
    await store.users.update('root', { role: 'ADMIN' }, clock.now());
    await clock.advance(2_000);
    expect(await trust.isTrusted(authoredBy('root'))).toBe(true);
    // Roles that cannot be read any more may have lost the bit.
    goDown();
    await clock.advance(3_000);
    expect(await trust.isTrusted(authoredBy('root'))).toBe(false);
  });
});

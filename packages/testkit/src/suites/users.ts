import type { PrimaryStore, UserRecord } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

export function aUser(overrides: Partial<UserRecord> = {}): UserRecord {
  return {
    id: 'u1',
    tenant: 'default',
    issuer: 'local',
    subject: 'ada@example.com',
    email: 'ada@example.com',
    name: 'Ada',
    role: 'USER',
    roleSource: 'manual',
    roleConfirmedAt: null,
    disabledAt: null,
    signedOutAt: null,
    passwordSealed: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    ...overrides,
  };
}

export function usersSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`UserStore on ${label}`, () => {
    const store = useStore(open);

    test('what is inserted is found unchanged, by id and by identity', async () => {
      const user = aUser({
        passwordSealed: 'v1.sealed',
        roleSource: 'claim',
        roleConfirmedAt: 1,
        disabledAt: 2,
        signedOutAt: 3,
        name: 'Ada "Ünïcode" $& 李',
      });
      expect(await store().users.insert(user)).toBe('inserted');
      expect(await store().users.findById('u1')).toEqual(user);
      expect(await store().users.findByIdentity('default', 'local', 'ada@example.com')).toEqual(user);
      expect(await store().users.findById('u2')).toBeNull();
      expect(
        await store().users.findByIdentity('default', 'https://idp.example', 'ada@example.com'),
      ).toBeNull();
    });

    test('of 20 parallel inserts of one identity, one wins', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store().users.insert(aUser({ id: `u${i}` }))),
      );
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(1);
      expect(await store().users.count()).toBe(1);
    });

    test('the same subject at another issuer or tenant is another account', async () => {
      expect(await store().users.insert(aUser())).toBe('inserted');
      expect(await store().users.insert(aUser({ id: 'u2', issuer: 'https://idp.example' }))).toBe('inserted');
      expect(await store().users.insert(aUser({ id: 'u3', tenant: 'other' }))).toBe('inserted');
      expect(await store().users.count()).toBe(3);
    });

    test('of 20 parallel first users, one becomes it', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          store().users.insertFirst(aUser({ id: `u${i}`, subject: `s${i}`, email: `s${i}` })),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(1);
      expect(await store().users.count()).toBe(1);
    });

    test('nobody is first where a user exists', async () => {
      await store().users.insert(aUser());
      expect(await store().users.insertFirst(aUser({ id: 'u2', subject: 'other' }))).toBe('not_first');
      expect(await store().users.findById('u2')).toBeNull();
    });

    test('a role is replaced, and an unknown user says so', async () => {
      await store().users.insert(aUser());
      const change = { role: 'ADMIN', roleSource: 'claim', roleConfirmedAt: 2_000 } as const;
      expect(await store().users.update('u1', change, 2_000)).toBe(true);
      expect(await store().users.findById('u1')).toEqual(aUser({ ...change, updatedAt: 2_000 }));
      expect(await store().users.update('nobody', change, 2_000)).toBe(false);
      expect(await store().users.count()).toBe(1);
    });

    test('only what a change names is changed, to null as well; who it is and its password never', async () => {
      await store().users.insert(aUser({ disabledAt: 5, passwordSealed: 'v1.sealed' }));
      await store().users.update('u1', { disabledAt: null, signedOutAt: 7, name: '' }, 2_000);
      const changed = aUser({ name: '', signedOutAt: 7, passwordSealed: 'v1.sealed', updatedAt: 2_000 });
      expect(await store().users.findById('u1')).toEqual(changed);
      // As a body would look that nobody has checked.
      const foreign = { email: 'new@example.com', id: 'u2', tenant: 'other', passwordSealed: 'v1.stolen' };
      expect(await store().users.update('u1', foreign, 3_000)).toBe(true);
      expect(await store().users.findById('u1')).toEqual({
        ...changed,
        email: 'new@example.com',
        updatedAt: 3_000,
      });
    });

    test('of 20 parallel changes of what was seen, one is made', async () => {
      await store().users.insert(aUser({ role: 'ADMIN', roleSource: 'claim' }));
      const condition = { role: 'ADMIN', roleSource: 'claim' } as const;
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store().users.update('u1', { role: `R${i}` }, 2_000, condition)),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect((await store().users.findById('u1'))?.role).toBe(`R${outcomes.indexOf(true)}`);
    });

    test('each part of what was seen must still hold', async () => {
      await store().users.insert(aUser());
      const change = { role: 'ADMIN' };
      expect(await store().users.update('u1', change, 2, { roleSource: 'claim' })).toBe(false);
      expect(await store().users.update('u1', change, 2, { role: 'USER', roleSource: 'claim' })).toBe(false);
      expect(await store().users.update('u1', change, 2, { role: 'OTHER', roleSource: 'manual' })).toBe(
        false,
      );
      expect(await store().users.findById('u1')).toEqual(aUser());
      expect(await store().users.update('u1', change, 2, { roleSource: 'manual' })).toBe(true);
    });

    test('those of a tenant, in the order of their ids, page by page', async () => {
      const ids = ['u1', 'u2', 'u3', 'u4'];
      for (const id of [...ids].reverse()) await store().users.insert(aUser({ id, subject: id }));
      await store().users.insert(aUser({ id: 'u0', tenant: 'other' }));
      const page = async (after: string | null, limit: number) =>
        (await store().users.list('default', { after, limit })).map(({ id }) => id);
      expect(await page(null, 10)).toEqual(ids);
      expect(await page(null, 2)).toEqual(['u1', 'u2']);
      expect(await page('u2', 3)).toEqual(['u3', 'u4']);
      expect(await page('u4', 3)).toEqual([]);
      expect(await store().users.list('other', { after: null, limit: 5 })).toEqual([
        aUser({ id: 'u0', tenant: 'other' }),
      ]);
    });

    test('a part of the email or the name is found in any case, and read as it stands', async () => {
      const users = {
        u1: ['ada@example.com', 'Ada Özgür'],
        u2: ['grace@example.com', 'Grace.H%pper [a-z]*'],
        u3: ['linus@example.com', 'L_nus? ^(x|y)$ \\d+ ]'],
      } as const;
      for (const [id, [email, name]] of Object.entries(users))
        await store().users.insert(aUser({ id, subject: id, email, name }));
      const found = async (search: string, after: string | null = null) =>
        (await store().users.list('default', { after, limit: 10, search })).map(({ id }) => id);
      expect(await found('')).toEqual(['u1', 'u2', 'u3']);
      expect(await found('EXAMPLE.com')).toEqual(['u1', 'u2', 'u3']);
      expect(await found('EXAMPLE.com', 'u1')).toEqual(['u2', 'u3']);
      expect(await found('öZGÜR')).toEqual(['u1']);
      expect(await found('ADA@')).toEqual(['u1']);
      for (const [search, ids] of [
        ['%', ['u2']],
        ['_', ['u3']],
        ['?', ['u3']],
        ['*', ['u2']],
        ['[a-Z]*', ['u2']],
        ['[a-c]', []],
        ['.h%P', ['u2']],
        ['^(X|Y)$', ['u3']],
        ['\\D+ ]', ['u3']],
        ['.*', []],
        ['a%', []],
        ["'", []],
      ] as const)
        expect([search, await found(search)]).toEqual([search, ids]);
    });

    test('the enabled users of a tenant with a role are counted', async () => {
      const insert = (id: string, overrides: Partial<UserRecord>) =>
        store().users.insert(aUser({ id, subject: id, role: 'ADMIN', ...overrides }));
      await insert('u1', {});
      await insert('u2', { disabledAt: 1 });
      await insert('u3', { tenant: 'other' });
      await insert('u4', { role: 'USER' });
      expect(await store().users.countWithRole('default', 'ADMIN')).toBe(1);
      await store().users.update('u2', { disabledAt: null }, 2);
      expect(await store().users.countWithRole('default', 'ADMIN')).toBe(2);
      expect(await store().users.countWithRole('default', 'admin')).toBe(0);
    });

    test('users of many ids, those that there are', async () => {
      const [one, two] = [aUser(), aUser({ id: 'u2', subject: 's2' })];
      await store().users.insert(one);
      await store().users.insert(two);
      const found = await store().users.findMany(['u2', 'unknown', one.id]);
      expect(found.sort((a, b) => (a.id === 'u2' ? 1 : b.id === 'u2' ? -1 : 0))).toEqual([one, two]);
      expect(await store().users.findMany(['u2'])).toEqual([two]);
      expect(await store().users.findMany([])).toEqual([]);
    });

    test('who was signed out since a time, in every tenant', async () => {
      await store().users.insert(aUser());
      await store().users.insert(aUser({ id: 'u2', subject: 's2', signedOutAt: 2_000 }));
      await store().users.insert(aUser({ id: 'u3', tenant: 'other', signedOutAt: 3_000 }));
      const since = async (at: number) =>
        (await store().users.listSignedOutSince(at)).sort((a, b) => (a.id < b.id ? -1 : 1));
      const third = { id: 'u3', tenant: 'other', signedOutAt: 3_000 };
      expect(await since(2_000)).toEqual([{ id: 'u2', tenant: 'default', signedOutAt: 2_000 }, third]);
      expect(await since(2_001)).toEqual([third]);
      expect(await since(3_001)).toEqual([]);
    });
  });
}

import type {
  ApiKeyRecord,
  PrimaryStore,
  SessionRecord,
  TicketRecord,
  UserRecord,
} from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { type OpenStore, useStore } from './useStore.ts';

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
      // An unchecked request body.
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

export function aSession(overrides: Partial<SessionRecord> = {}): SessionRecord {
  return {
    hash: 'h1',
    userId: 'u1',
    tenant: 'default',
    via: 'password',
    groups: [],
    grant: null,
    createdAt: 1_000,
    // Far in the future, so that only the `now` of a test decides about expiry.
    expiresAt: 9e12,
    ...overrides,
  };
}

export function sessionsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`SessionStore on ${label}`, () => {
    const store = useStore(open);

    test('a session is found until its end and not at it', async () => {
      await store().sessions.insert(aSession());
      expect(await store().sessions.find('h1', 9e12 - 1)).toEqual(aSession());
      expect(await store().sessions.find('h1', 9e12)).toBeNull();
      expect(await store().sessions.find('h2', 0)).toBeNull();
    });

    test('which sessions of many are open', async () => {
      await store().sessions.insert(aSession());
      await store().sessions.insert(aSession({ hash: 'h2', expiresAt: 8e12 }));
      const open = async (hashes: string[], now: number) =>
        (await store().sessions.filterActive(hashes, now)).sort();
      expect(await open(['h2', 'unknown', 'h1'], 8e12 - 1)).toEqual(['h1', 'h2']);
      expect(await open(['h2', 'h1'], 8e12)).toEqual(['h1']);
      expect(await open(['h2'], 0)).toEqual(['h2']);
      expect(await open([], 0)).toEqual([]);
    });

    test('the open sessions of a user, the oldest first, with how they began', async () => {
      const federated = aSession({
        hash: 'h0',
        via: 'openid',
        groups: ['a', '"$&" ünïcode 李'],
        createdAt: 2_000,
      });
      const granted = aSession({
        hash: 'h4',
        via: 'client',
        grant: { clientId: 'https://client.example/"a"', from: 'h0' },
        createdAt: 3_000,
      });
      await store().sessions.insert(granted);
      // Granted by an assertion, without a session.
      const asserted = {
        ...granted,
        hash: 'h9',
        createdAt: granted.createdAt + 1,
        grant: { clientId: 'c', from: '' },
      };
      await store().sessions.insert(asserted);
      await store().sessions.insert(federated);
      await store().sessions.insert(aSession());
      await store().sessions.insert(aSession({ hash: 'h2', expiresAt: 8e12 }));
      await store().sessions.insert(aSession({ hash: 'h3', userId: 'u2' }));
      expect(await store().sessions.find('h0', 0)).toEqual(federated);
      expect(await store().sessions.list('u1', 8e12)).toEqual([aSession(), federated, granted, asserted]);
      expect(await store().sessions.list('u1', 9e12)).toEqual([]);
    });

    test('a removed session is gone, and only that one', async () => {
      await store().sessions.insert(aSession());
      await store().sessions.insert(aSession({ hash: 'h2' }));
      expect(await store().sessions.remove('h1')).toBe(true);
      expect(await store().sessions.remove('h1')).toBe(false);
      expect(await store().sessions.find('h1', 0)).toBeNull();
      expect(await store().sessions.find('h2', 0)).not.toBeNull();
    });

    test('all sessions of a user end together, nobody else’s', async () => {
      await store().sessions.insert(aSession());
      await store().sessions.insert(aSession({ hash: 'h2' }));
      await store().sessions.insert(aSession({ hash: 'h3', userId: 'u2' }));
      expect(await store().sessions.removeByUser('u1')).toBe(2);
      expect(await store().sessions.find('h3', 0)).not.toBeNull();
    });

    test('expired sessions are swept, live ones stay', async () => {
      await store().sessions.insert(aSession());
      await store().sessions.insert(aSession({ hash: 'h2', expiresAt: 9.1e12 }));
      expect(await store().sessions.removeExpired(9e12)).toBe(1);
      expect(await store().sessions.find('h2', 9e12)).not.toBeNull();
    });
  });
}

export function anApiKey(overrides: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  return {
    id: 'k1',
    hash: 'hash of k1',
    tenant: 'default',
    userId: 'u1',
    name: 'laptop',
    hint: 'wxyz',
    scopes: ['mcp', 'servers'],
    createdAt: 1_000,
    expiresAt: 9_000,
    lastUsedAt: null,
    ...overrides,
  };
}

export function apiKeysSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`ApiKeyStore on ${label}`, () => {
    const store = useStore(open);
    const second = anApiKey({ id: 'k0', hash: 'hash of k0', createdAt: 2_000, scopes: [], name: '' });

    test('keys are read back as they were written, the oldest first', async () => {
      await store().apiKeys.insert(second);
      await store().apiKeys.insert(anApiKey());
      await store().apiKeys.insert(anApiKey({ id: 'k2', hash: 'hash of k2', userId: 'u2' }));
      expect(await store().apiKeys.findByHash('hash of k1', 0)).toEqual(anApiKey());
      expect(await store().apiKeys.findByHash('k1', 0)).toBeNull();
      expect(await store().apiKeys.list('u1')).toEqual([anApiKey(), second]);
    });

    test('two keys never share a hash or an id', async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => store().apiKeys.insert(anApiKey({ id: `k${i}` }))),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const [remaining] = await store().apiKeys.list('u1');
      await expect(
        store().apiKeys.insert(anApiKey({ id: remaining!.id, hash: 'another', userId: 'u2' })),
      ).rejects.toThrow();
      expect(await store().raw.page('apiKeys', null, 10)).toEqual([remaining]);
    });

    test('a key is found until its end and not at it, listed still, and swept', async () => {
      await store().apiKeys.insert(anApiKey());
      await store().apiKeys.insert({ ...second, expiresAt: 9_001 });
      expect(await store().apiKeys.findByHash('hash of k1', 8_999)).toEqual(anApiKey());
      expect(await store().apiKeys.findByHash('hash of k1', 9_000)).toBeNull();
      expect(await store().apiKeys.list('u1')).toHaveLength(2);
      expect(await store().apiKeys.removeExpired(9_000)).toBe(1);
      expect((await store().apiKeys.list('u1')).map(({ id }) => id)).toEqual(['k0']);
    });

    test('a user removes keys of their own alone, and each is removed once', async () => {
      await store().apiKeys.insert(anApiKey());
      await store().apiKeys.insert(second);
      const other = anApiKey({ id: 'k2', hash: 'hash of k2', userId: 'u2' });
      await store().apiKeys.insert(other);
      expect(await store().apiKeys.remove('u2', 'k1')).toBeNull();
      const removed = await Promise.all(Array.from({ length: 10 }, () => store().apiKeys.remove('u1', 'k1')));
      expect(removed.filter((key) => key !== null)).toEqual([anApiKey()]);
      expect(await store().apiKeys.findByHash('hash of k1', 0)).toBeNull();
      expect(await store().apiKeys.removeByUser('u1')).toBe(1);
      expect(await store().raw.page('apiKeys', null, 10)).toEqual([other]);
    });

    test('which keys of many are live', async () => {
      await store().apiKeys.insert(anApiKey());
      await store().apiKeys.insert({ ...second, expiresAt: 9_001 });
      const active = async (ids: string[], now: number) =>
        (await store().apiKeys.filterActive(ids, now)).sort();
      expect(await active(['k1', 'unknown', 'k0'], 8_999)).toEqual(['k0', 'k1']);
      expect(await active(['k1', 'k0'], 9_000)).toEqual(['k0']);
      expect(await active(['k1'], 0)).toEqual(['k1']);
      expect(await active([], 0)).toEqual([]);
    });

    test('the latest use is noted, in whatever order uses arrive', async () => {
      await store().apiKeys.insert(anApiKey());
      await Promise.all([5_000, 7_000, 3_000].map((at) => store().apiKeys.touch('k1', at)));
      await store().apiKeys.touch('k1', 6_000);
      await store().apiKeys.touch('unknown', 6_000);
      expect(await store().apiKeys.list('u1')).toEqual([anApiKey({ lastUsedAt: 7_000 })]);
      expect(await store().raw.count('apiKeys')).toBe(1);
    });
  });
}

function aTicket(overrides: Partial<TicketRecord> = {}): TicketRecord {
  return { hash: 't1', kind: 'setup', createdAt: 1_000, expiresAt: 9e12, ...overrides };
}

export function ticketsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`TicketStore on ${label}`, () => {
    const store = useStore(open);

    test('of 20 parallel consumers, one succeeds', async () => {
      await store().tickets.issue(aTicket());
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => store().tickets.consume('setup', 't1', 2_000)),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await store().tickets.isConsumable('setup', 't1', 2_000)).toBe(false);
    });

    test('an expired ticket is neither open nor consumed', async () => {
      await store().tickets.issue(aTicket());
      expect(await store().tickets.isConsumable('setup', 't1', 9e12 - 1)).toBe(true);
      expect(await store().tickets.isConsumable('setup', 't1', 9e12)).toBe(false);
      expect(await store().tickets.consume('setup', 't1', 9e12)).toBe(false);
      expect(await store().tickets.consume('setup', 'unknown', 0)).toBe(false);
    });

    test('what had expired goes when the next one is issued', async () => {
      await store().tickets.issue(aTicket({ hash: 'over', expiresAt: 2_000 }));
      await store().tickets.issue(aTicket({ hash: 'open' }));
      expect(await store().raw.count('tickets')).toBe(2);
      await store().tickets.issue(aTicket({ hash: 'new', createdAt: 2_000 }));
      const remaining = await store().raw.page('tickets', null, 10);
      expect(remaining.map(({ hash }) => hash)).toEqual(['new', 'open']);
    });

    test('revoking a kind ends its open tickets', async () => {
      await store().tickets.issue(aTicket());
      await store().tickets.issue(aTicket({ hash: 't2' }));
      await store().tickets.revokeAll('setup');
      expect(await store().tickets.consume('setup', 't1', 2_000)).toBe(false);
      expect(await store().tickets.consume('setup', 't2', 2_000)).toBe(false);
    });
  });
}

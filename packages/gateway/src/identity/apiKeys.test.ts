import { systemRandom as random } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import { adaAccount, createIdentityRig, dumpStore } from '../../test/identityRig.ts';
import type { AuditEvent } from '../audit/audit.ts';
import { toPrincipal } from '../principal/principal.ts';
import { createApiKeys } from './apiKeys.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

async function createRig() {
  const rig = createIdentityRig();
  const { store, clock, accounts } = rig;
  const events: AuditEvent[] = [];
  const keys = createApiKeys({
    store: store.apiKeys,
    users: store.users,
    changes: store.changes,
    clock,
    random,
    audit: { record: async (event) => void events.push(event), note: () => undefined, reserve: () => true },
  });
  const user = await accounts.create(adaAccount);
  const owner = toPrincipal(user, { via: 'session', session: 's' });
  const make = (overrides = {}) =>
    keys.create(owner, { name: 'laptop', scopes: ['mcp'], expiresInDays: 30, ...overrides });
  return { ...rig, keys, user, owner, make, events };
}

describe('personal API keys', () => {
  test('a key is its owner, with the scopes it was given', async () => {
    const { keys, make, user, clock, events } = await createRig();
    const { key, record } = await make({ scopes: ['servers', 'mcp', 'mcp'] });
    expect(key).toMatch(/^bhf_[\w-]{43}$/);
    const known = await keys.resolve(key);
    expect(known?.caller).toMatchObject({
      kind: 'user',
      userId: user.id,
      authentication: { via: 'api_key', key: record.id, scopes: ['mcp', 'servers'] },
    });
    expect(known?.until).toBe(clock.now() + 30 * DAY_MS);
    for (const guess of ['', 'bhf_', `${key}x`, key.slice(0, -1), record.hash]) {
      expect(await keys.resolve(guess)).toBeNull();
    }
    expect(events).toMatchObject([{ action: 'api_key.create', subject: record.id, kind: 'credential' }]);
  });

  test('neither the store nor the audit holds it', async () => {
    const { make, store, events } = await createRig();
    const { key } = await make();
    const held = (await dumpStore(store)) + JSON.stringify(events);
    expect(held).toContain('laptop');
    expect(held).not.toContain(key);
    expect(held).not.toContain(key.slice(4));
  });

  test('with its time, with its owner, and when it is deleted', async () => {
    const { keys, make, store, user, owner, clock } = await createRig();
    const short = await make({ expiresInDays: 1 });
    const { key, record } = await make();
    await store.users.update(user.id, { disabledAt: 1 }, 1);
    expect(await keys.resolve(key)).toBeNull();
    await store.users.update(user.id, { disabledAt: null }, 1);
    expect(await keys.resolve(key)).not.toBeNull();
    await clock.advance(DAY_MS);
    expect(await keys.resolve(short.key)).toBeNull();
    expect(await keys.sweep()).toBe(1);
    const unrelatedUser = { ...owner, userId: 'other' };
    const theirs = await keys.create(unrelatedUser, { name: 'x', scopes: [], expiresInDays: 1 });
    await expect(keys.remove(unrelatedUser, record.id)).rejects.toMatchObject({ code: 'API_KEY_NOT_FOUND' });
    await expect(keys.remove(owner, theirs.record.id)).rejects.toMatchObject({ code: 'API_KEY_NOT_FOUND' });
    const received: string[] = [];
    store.changes.subscribe(({ topic, id }) => received.push(`${topic} ${id}`));
    await keys.remove(owner, record.id);
    expect(await keys.resolve(key)).toBeNull();
    expect(received).toEqual([`apiKeys ${record.hash}`]);
    expect(await keys.list(owner)).toEqual([]);
  });

  test('its use is noted, and not with every call', async () => {
    const { keys, make, owner, clock } = await createRig();
    const { key } = await make();
    const usedAt = async () => (await keys.list(owner))[0]?.lastUsedAt;
    expect(await usedAt()).toBeNull();
    await keys.resolve(key);
    const first = clock.now();
    expect(await usedAt()).toBe(first);
    await clock.advance(60_000);
    await keys.resolve(key);
    expect(await usedAt()).toBe(first);
    await clock.advance(5 * 60_000);
    await keys.resolve(key);
    expect(await usedAt()).toBe(clock.now());
  });

  test('nobody has more than twenty-five', async () => {
    const { make } = await createRig();
    for (let i = 0; i < 25; i += 1) await make();
    await expect(make()).rejects.toMatchObject({ code: 'API_KEY_LIMIT' });
  });
});

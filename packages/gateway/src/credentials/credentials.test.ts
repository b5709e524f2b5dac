import { createKeyring, systemRandom } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import { alice, bob, credentialsRig, KEY, keyed, someone } from '../../test/credentialsRig.ts';
import { userServer } from '../../test/servers.ts';
import type { UserVariableStore } from '../ports/index.ts';
import type { UserServer } from '../registry/server.ts';
import type { BodyFields } from './credentials.ts';
import { createUserVariables } from './userVariables.ts';
import { createVariableCache } from './variableCache.ts';

describe('credentials', () => {
  test('a user’s value arrives as it was entered, and only theirs', async () => {
    const { variables, header } = credentialsRig();
    await variables.set(keyed, alice, { KEY: 'ab$$cd$&ef' });
    await variables.set(keyed, bob, { KEY: 'of bob' });
    await variables.set(keyed, someone('alice', { tenant: 'other' }), { KEY: 'of another tenant' });
    expect(await header(keyed)).toBe('ab$$cd$&ef');
    expect(await header(keyed, bob)).toBe('of bob');
    expect(await header(keyed, someone('alice', { tenant: 'other' }))).toBe('of another tenant');
  });

  test('what we know of the user and of the request', async () => {
    const { header, get } = credentialsRig();
    const user = userServer({
      headers: {
        'X-Key':
          '{{LIBRECHAT_USER_ID}} {{LIBRECHAT_USER_EMAIL}} {{LIBRECHAT_USER_ROLE}} {{LIBRECHAT_USER_NAME}}',
      },
    });
    expect(await header(user)).toBe('alice alice@example.com USER alice');
    expect(await header(user, someone('alice', { name: 'A. {{LIBRECHAT_USER_ID}}', role: 'ADMIN' }))).toBe(
      'alice alice@example.com ADMIN A. {{LIBRECHAT_USER_ID}}',
    );
    const body = userServer({ headers: { 'X-Key': '{{LIBRECHAT_BODY_CONVERSATIONID}}' } });
    expect(await header(body, alice, { CONVERSATIONID: 'c1' })).toBe('c1');
    expect(await header(body, alice, { CONVERSATIONID: 'c2' })).toBe('c2');
    const child = await get(userServer({ command: 'node', args: ['{{LIBRECHAT_USER_ID}}'] }));
    expect(child.target).toMatchObject({ args: ['alice'], env: { PATH: '/bin' } });
    expect(JSON.stringify(child)).not.toContain('SECRET');
  });

  test('an address that a user chose is marked as one', async () => {
    const { get } = credentialsRig();
    expect((await get(userServer({}, { source: 'user' }))).target).toMatchObject({ audience: 'user-server' });
    expect((await get(userServer({ startup: false }))).target).toMatchObject({ audience: 'yaml-server' });
  });

  test('each declared value that is unset or blank is named', async () => {
    const { variables, credentials, plant } = credentialsRig();
    const three = userServer({
      customUserVars: { A: KEY.KEY, B: KEY.KEY, C: KEY.KEY },
      headers: { A: '{{A}}' },
    });
    await variables.set(three, alice, { A: 'a' });
    await plant('B', ' \t');
    await expect(credentials.obtain(three, alice)).rejects.toMatchObject({
      code: 'MCP_USER_VARS_MISSING',
      errors: [{ path: 'B' }, { path: 'C' }],
    });
    await expect(credentials.obtain(three, alice)).rejects.toThrow(/B, C/);
    const both = userServer({ requiresOAuth: true, customUserVars: KEY });
    await expect(credentials.obtain(both, alice)).rejects.toMatchObject({ code: 'MCP_USER_VARS_MISSING' });
  });

  test('a value stored under an undeclared name is not used, whatever it is called', async () => {
    const { plant, header, credentials } = credentialsRig();
    await plant('LIBRECHAT_USER_ID', 'mallory');
    await plant('ID', 'mallory');
    await plant('MCP_API_KEY', 'mallory');
    await plant('KEY', 'declared');
    const identity = userServer({
      customUserVars: KEY,
      headers: { 'X-Key': '{{LIBRECHAT_USER_ID}} {{KEY}}' },
    });
    expect(await header(identity)).toBe('alice declared');
    // Declared once and stored then; the definition of today does not know it.
    const changed = userServer({ customUserVars: { OTHER: KEY.KEY }, headers: { 'X-Key': '{{OTHER}}' } });
    await expect(credentials.obtain(changed, alice)).rejects.toMatchObject({ errors: [{ path: 'OTHER' }] });
    const admin = userServer({
      customUserVars: KEY,
      headers: { 'X-Key': '{{KEY}}' },
      apiKey: { source: 'admin', authorization_type: 'bearer', key: 'ours' },
    });
    const obtained = await credentials.obtain(admin, alice);
    expect(JSON.stringify(obtained)).not.toContain('mallory');
    // Even where a definition came to name what it does not declare.
    const headers = { 'X-Key': [{ kind: 'userVar' as const, name: 'ID' }] };
    const strange = { ...keyed, settings: { ...keyed.settings, headers } as UserServer['settings'] };
    await expect(credentials.obtain(strange, alice)).rejects.toMatchObject({ code: 'MCP_CONFIG_INVALID' });
  });

  test('what has no value, or one that does not fit, is named and nothing is sent', async () => {
    const { credentials, variables } = credentialsRig();
    const failing = (headers: Record<string, string>, fields?: BodyFields, principal = alice) =>
      credentials.obtain(userServer({ headers, customUserVars: KEY }), principal, fields);
    await variables.set(keyed, alice, { KEY: 'a\r\nX-Evil: 1' });
    await expect(failing({ A: '{{KEY}}' })).rejects.toMatchObject({
      code: 'MCP_CONFIG_INVALID',
      errors: [{ path: 'headers.A', code: 'header_value' }],
    });
    await variables.set(keyed, alice, { KEY: 'fine' });
    for (const text of ['{{LIBRECHAT_USER_USERNAME}}', '{{LIBRECHAT_OPENID_ACCESS_TOKEN}}']) {
      const error = await failing({ A: text }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'MCP_CONFIG_INVALID', errors: [{ path: 'headers.A' }] });
      expect((error as Error).message).toContain(text);
    }
    const body = { A: '{{LIBRECHAT_BODY_MESSAGEID}}' };
    for (const fields of [undefined, {}, { MESSAGEID: ' ' }, { CONVERSATIONID: 'c' }]) {
      await expect(failing(body, fields)).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    }
    await variables.set(keyed, bob, { KEY: 'k' });
    const nameless = failing({ A: '{{LIBRECHAT_USER_NAME}}' }, {}, someone('bob', { name: '' }));
    await expect(nameless).rejects.toMatchObject({ code: 'MCP_CONFIG_INVALID' });
  });

  test('a server that needs a sign-in says so, and gives nothing', async () => {
    const { credentials } = credentialsRig();
    const obtaining = credentials.obtain(userServer({ requiresOAuth: true }), alice);
    await expect(obtaining).rejects.toMatchObject({ name: 'SignInRequired', reason: 'absent' });
  });

  test('two share one only if user, definition and values are the same', async () => {
    const { variables, get } = credentialsRig();
    await variables.set(keyed, alice, { KEY: 'same' });
    await variables.set(keyed, bob, { KEY: 'same' });
    const { binding } = await get(keyed);
    expect((await get(keyed)).binding).toBe(binding);
    expect((await get(keyed, bob)).binding).not.toBe(binding);
    const fixed = userServer({ startup: false, headers: { A: 'b' } });
    expect((await get(fixed)).binding).not.toBe((await get(fixed, bob)).binding);
    const otherTenantUser = someone('alice', { tenant: 'other' });
    expect((await get(fixed)).binding).not.toBe((await get(fixed, otherTenantUser)).binding);
    await variables.set(keyed, alice, { KEY: 'changed' });
    expect((await get(keyed)).binding).not.toBe(binding);
    expect(binding).toMatch(/^[\w-]{43}$/);
  });

  test('a warm call reads, opens and renders nothing', async () => {
    const { variables, get, counts, clock } = credentialsRig();
    await variables.set(keyed, alice, { KEY: 'k' });
    const first = await get(keyed);
    const before = counts();
    for (let i = 0; i < 100; i += 1) expect(await get(keyed, someone('alice'))).toBe(first);
    expect(counts()).toEqual(before);
    // When it is read again and nothing has changed, nothing is opened again.
    await clock.advance(2_000);
    expect(await get(keyed)).toBe(first);
    expect(counts()).toEqual({ lists: before.lists + 1, opened: before.opened });
    const fixed = userServer({ startup: false });
    await get(fixed);
    expect(counts().lists).toBe(before.lists + 1);
  });

  test('another role or name of the same user is not served the old one', async () => {
    const { header } = credentialsRig();
    const role = userServer({ headers: { 'X-Key': '{{LIBRECHAT_USER_ROLE}}' } });
    expect(await header(role)).toBe('USER');
    expect(await header(role, someone('alice', { role: 'ADMIN' }))).toBe('ADMIN');
  });
});

describe('values in memory', () => {
  test('a change here counts at once, one elsewhere within two seconds', async () => {
    const { variables, header, clock, store } = credentialsRig();
    await variables.set(keyed, alice, { KEY: 'one' });
    expect(await header(keyed)).toBe('one');
    await variables.set(keyed, alice, { KEY: 'two' });
    expect(await header(keyed)).toBe('two');
    // As a process would whose notice was lost.
    const silent = { publish: async () => undefined, subscribe: () => () => undefined, syncedUntil: () => 0 };
    const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
    const otherVariables = createUserVariables({ store: store.variables, keyring, changes: silent, clock });
    await otherVariables.set(keyed, alice, { KEY: 'three' });
    await clock.advance(1_999);
    expect(await header(keyed)).toBe('two');
    await clock.advance(1);
    expect(await header(keyed)).toBe('three');
    await otherVariables.set(keyed, alice, { KEY: 'four' });
    await store.changes.publish({ topic: 'variables', id: '*' });
    expect(await header(keyed)).toBe('four');
    await otherVariables.removeAll(keyed, alice);
    await clock.advance(2_000);
    await expect(header(keyed)).rejects.toMatchObject({ code: 'MCP_USER_VARS_MISSING' });
  });

  test('nothing is read again while the feed hears everything, up to half a minute', async () => {
    const { variables, header, clock, counts, hearAll } = credentialsRig();
    await variables.set(keyed, alice, { KEY: 'one' });
    await header(keyed);
    const { lists } = counts();
    for (let second = 1; second < 30; second += 1) {
      await clock.advance(1_000);
      hearAll();
      await header(keyed);
    }
    expect(counts().lists).toBe(lists);
    await clock.advance(1_000);
    hearAll();
    await header(keyed);
    expect(counts().lists).toBe(lists + 1);
  });

  test('what was being read when a notice came is kept for nobody', async () => {
    const { store, keyring, clock } = credentialsRig();
    let release: () => void = () => undefined;
    let slow = true;
    const list: UserVariableStore['list'] = async (...owner) => {
      const rows = await store.variables.list(...owner);
      if (slow) await new Promise<void>((resolve) => (release = resolve));
      return rows;
    };
    const cache = createVariableCache({
      store: { ...store.variables, list },
      keyring,
      changes: store.changes,
      clock,
    });
    const variables = createUserVariables({
      store: store.variables,
      keyring,
      changes: store.changes,
      clock,
    });
    await variables.set(keyed, alice, { KEY: 'old' });
    const owner = { tenant: 'default', userId: 'alice', serverId: 'server' };
    const early = cache.read(owner);
    await clock.advance(0);
    slow = false;
    await variables.set(keyed, alice, { KEY: 'new' });
    const late = cache.read(owner);
    release();
    expect((await early).values).toEqual({ KEY: 'old' });
    expect((await late).values).toEqual({ KEY: 'new' });
    expect((await cache.read(owner)).values).toEqual({ KEY: 'new' });
    cache.close();
  });

  test('calls run on for half a minute without the store, then fail', async () => {
    const { variables, header, clock, goAway, store } = credentialsRig();
    await variables.set(keyed, alice, { KEY: 'k' });
    expect(await header(keyed)).toBe('k');
    goAway(true);
    await clock.advance(29_999);
    expect(await header(keyed)).toBe('k');
    await expect(header(keyed, bob)).rejects.toThrow('away');
    await clock.advance(1);
    await expect(header(keyed)).rejects.toThrow('away');
    goAway(false);
    expect(await header(keyed)).toBe('k');
    goAway(true);
    await store.changes.publish({ topic: 'variables', id: '*' });
    await expect(header(keyed)).rejects.toThrow('away');
  });

  test('ten thousand users are remembered, and no more', async () => {
    const { cache, counts } = credentialsRig();
    const owner = (i: number) => ({ tenant: 'default', userId: `u${i}`, serverId: 's' });
    for (let i = 0; i <= 10_000; i += 1) await cache.read(owner(i));
    const before = counts().lists;
    await cache.read(owner(10_000));
    await cache.read(owner(1));
    expect(counts().lists).toBe(before);
    await cache.read(owner(0));
    expect(counts().lists).toBe(before + 1);
  });
});

import { createKeyring, systemRandom } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import {
  alice,
  bob,
  createCredentialsRig,
  KEY,
  keyedServer,
  createPrincipal,
} from '../../test/credentialsRig.ts';
import { createUserSnapshot } from '../../test/servers.ts';
import type { UserVariableStore } from '../ports/index.ts';
import type { UserServer } from '../definitions/definition.ts';
import type { BodyFields } from './credentials.ts';
import { createUserVariables } from './variables/userVariables.ts';
import { createVariableCache } from './variables/variableCache.ts';

describe('credentials', () => {
  test('a user’s value arrives as it was entered, and only theirs', async () => {
    const { variables, readHeader } = createCredentialsRig();
    await variables.set(keyedServer, alice, { KEY: 'ab$$cd$&ef' });
    await variables.set(keyedServer, bob, { KEY: 'of bob' });
    await variables.set(keyedServer, createPrincipal('alice', { tenant: 'other' }), {
      KEY: 'of another tenant',
    });
    expect(await readHeader(keyedServer)).toBe('ab$$cd$&ef');
    expect(await readHeader(keyedServer, bob)).toBe('of bob');
    expect(await readHeader(keyedServer, createPrincipal('alice', { tenant: 'other' }))).toBe(
      'of another tenant',
    );
  });

  test('what we know of the user and of the request', async () => {
    const { readHeader, getCredential } = createCredentialsRig();
    const user = createUserSnapshot({
      headers: {
        'X-Key':
          '{{LIBRECHAT_USER_ID}} {{LIBRECHAT_USER_EMAIL}} {{LIBRECHAT_USER_ROLE}} {{LIBRECHAT_USER_NAME}}',
      },
    });
    expect(await readHeader(user)).toBe('alice alice@example.com USER alice');
    expect(
      await readHeader(user, createPrincipal('alice', { name: 'A. {{LIBRECHAT_USER_ID}}', role: 'ADMIN' })),
    ).toBe('alice alice@example.com ADMIN A. {{LIBRECHAT_USER_ID}}');
    const body = createUserSnapshot({ headers: { 'X-Key': '{{LIBRECHAT_BODY_CONVERSATIONID}}' } });
    expect(await readHeader(body, alice, { CONVERSATIONID: 'c1' })).toBe('c1');
    expect(await readHeader(body, alice, { CONVERSATIONID: 'c2' })).toBe('c2');
    const child = await getCredential(
      createUserSnapshot({ command: 'node', args: ['{{LIBRECHAT_USER_ID}}'] }),
    );
    expect(child.target).toMatchObject({ args: ['alice'], env: { PATH: '/bin' } });
    expect(JSON.stringify(child)).not.toContain('SECRET');
  });

  test('an address that a user chose is marked as one', async () => {
    const { getCredential } = createCredentialsRig();
    expect((await getCredential(createUserSnapshot({}, { source: 'user' }))).target).toMatchObject({
      audience: 'user-server',
    });
    expect((await getCredential(createUserSnapshot({ startup: false }))).target).toMatchObject({
      audience: 'yaml-server',
    });
  });

  test('each declared value that is unset or blank is named', async () => {
    const { variables, credentials, storeValue } = createCredentialsRig();
    const three = createUserSnapshot({
      customUserVars: { A: KEY.KEY, B: KEY.KEY, C: KEY.KEY },
      headers: { A: '{{A}}' },
    });
    await variables.set(three, alice, { A: 'a' });
    await storeValue('B', ' \t');
    await expect(credentials.obtain(three, alice)).rejects.toMatchObject({
      code: 'MCP_USER_VARS_MISSING',
      errors: [{ path: 'B' }, { path: 'C' }],
    });
    await expect(credentials.obtain(three, alice)).rejects.toThrow(/B, C/);
    const both = createUserSnapshot({ requiresOAuth: true, customUserVars: KEY });
    await expect(credentials.obtain(both, alice)).rejects.toMatchObject({ code: 'MCP_USER_VARS_MISSING' });
  });

  test('a value stored under an undeclared name is not used, whatever it is called', async () => {
    const { storeValue, readHeader, credentials } = createCredentialsRig();
    await storeValue('LIBRECHAT_USER_ID', 'mallory');
    await storeValue('ID', 'mallory');
    await storeValue('MCP_API_KEY', 'mallory');
    await storeValue('KEY', 'declared');
    const identity = createUserSnapshot({
      customUserVars: KEY,
      headers: { 'X-Key': '{{LIBRECHAT_USER_ID}} {{KEY}}' },
    });
    expect(await readHeader(identity)).toBe('alice declared');
    // Declared once and stored then; the definition of today does not know it.
    const changed = createUserSnapshot({
      customUserVars: { OTHER: KEY.KEY },
      headers: { 'X-Key': '{{OTHER}}' },
    });
    await expect(credentials.obtain(changed, alice)).rejects.toMatchObject({ errors: [{ path: 'OTHER' }] });
    const admin = createUserSnapshot({
      customUserVars: KEY,
      headers: { 'X-Key': '{{KEY}}' },
      apiKey: { source: 'admin', authorization_type: 'bearer', key: 'ours' },
    });
    const obtained = await credentials.obtain(admin, alice);
    expect(JSON.stringify(obtained)).not.toContain('mallory');
    // Even where a definition came to name what it does not declare.
    const headers = { 'X-Key': [{ kind: 'userVar' as const, name: 'ID' }] };
    const strange = {
      ...keyedServer,
      settings: { ...keyedServer.settings, headers } as UserServer['settings'],
    };
    await expect(credentials.obtain(strange, alice)).rejects.toMatchObject({ code: 'MCP_CONFIG_INVALID' });
  });

  test('what has no value, or one that does not fit, is named and nothing is sent', async () => {
    const { credentials, variables } = createCredentialsRig();
    const failing = (headers: Record<string, string>, fields?: BodyFields, principal = alice) =>
      credentials.obtain(createUserSnapshot({ headers, customUserVars: KEY }), principal, fields);
    await variables.set(keyedServer, alice, { KEY: 'a\r\nX-Evil: 1' });
    await expect(failing({ A: '{{KEY}}' })).rejects.toMatchObject({
      code: 'MCP_CONFIG_INVALID',
      errors: [{ path: 'headers.A', code: 'header_value' }],
    });
    await variables.set(keyedServer, alice, { KEY: 'fine' });
    for (const text of ['{{LIBRECHAT_USER_USERNAME}}', '{{LIBRECHAT_OPENID_ACCESS_TOKEN}}']) {
      const error = await failing({ A: text }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'MCP_CONFIG_INVALID', errors: [{ path: 'headers.A' }] });
      expect((error as Error).message).toContain(text);
    }
    const body = { A: '{{LIBRECHAT_BODY_MESSAGEID}}' };
    for (const fields of [undefined, {}, { MESSAGEID: ' ' }, { CONVERSATIONID: 'c' }]) {
      await expect(failing(body, fields)).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    }
    await variables.set(keyedServer, bob, { KEY: 'k' });
    const nameless = failing({ A: '{{LIBRECHAT_USER_NAME}}' }, {}, createPrincipal('bob', { name: '' }));
    await expect(nameless).rejects.toMatchObject({ code: 'MCP_CONFIG_INVALID' });
  });

  test('a server that needs a sign-in says so, and gives nothing', async () => {
    const { credentials } = createCredentialsRig();
    const obtaining = credentials.obtain(createUserSnapshot({ requiresOAuth: true }), alice);
    await expect(obtaining).rejects.toMatchObject({ name: 'SignInRequired', reason: 'absent' });
  });

  test('two share one only if user, definition and values are the same', async () => {
    const { variables, getCredential } = createCredentialsRig();
    await variables.set(keyedServer, alice, { KEY: 'same' });
    await variables.set(keyedServer, bob, { KEY: 'same' });
    const { binding } = await getCredential(keyedServer);
    expect((await getCredential(keyedServer)).binding).toBe(binding);
    expect((await getCredential(keyedServer, bob)).binding).not.toBe(binding);
    const fixed = createUserSnapshot({ startup: false, headers: { A: 'b' } });
    expect((await getCredential(fixed)).binding).not.toBe((await getCredential(fixed, bob)).binding);
    const otherTenantUser = createPrincipal('alice', { tenant: 'other' });
    expect((await getCredential(fixed)).binding).not.toBe(
      (await getCredential(fixed, otherTenantUser)).binding,
    );
    await variables.set(keyedServer, alice, { KEY: 'changed' });
    expect((await getCredential(keyedServer)).binding).not.toBe(binding);
    expect(binding).toMatch(/^[\w-]{43}$/);
  });

  test('a warm call reads, opens and renders nothing', async () => {
    const { variables, getCredential, counts, clock } = createCredentialsRig();
    await variables.set(keyedServer, alice, { KEY: 'k' });
    const first = await getCredential(keyedServer);
    const before = counts();
    for (let i = 0; i < 100; i += 1)
      expect(await getCredential(keyedServer, createPrincipal('alice'))).toBe(first);
    expect(counts()).toEqual(before);
    // When it is read again and nothing has changed, nothing is opened again.
    await clock.advance(2_000);
    expect(await getCredential(keyedServer)).toBe(first);
    expect(counts()).toEqual({ listCount: before.listCount + 1, openCount: before.openCount });
    const fixed = createUserSnapshot({ startup: false });
    await getCredential(fixed);
    expect(counts().listCount).toBe(before.listCount + 1);
  });

  test('another role or name of the same user is not served the old one', async () => {
    const { readHeader } = createCredentialsRig();
    const role = createUserSnapshot({ headers: { 'X-Key': '{{LIBRECHAT_USER_ROLE}}' } });
    expect(await readHeader(role)).toBe('USER');
    expect(await readHeader(role, createPrincipal('alice', { role: 'ADMIN' }))).toBe('ADMIN');
  });
});

describe('values in memory', () => {
  test('a change here counts at once, one elsewhere within two seconds', async () => {
    const { variables, readHeader, clock, store } = createCredentialsRig();
    await variables.set(keyedServer, alice, { KEY: 'one' });
    expect(await readHeader(keyedServer)).toBe('one');
    await variables.set(keyedServer, alice, { KEY: 'two' });
    expect(await readHeader(keyedServer)).toBe('two');
    // As a process would whose notice was lost.
    const silent = { publish: async () => undefined, subscribe: () => () => undefined, syncedUntil: () => 0 };
    const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
    const otherVariables = createUserVariables({ store: store.variables, keyring, changes: silent, clock });
    await otherVariables.set(keyedServer, alice, { KEY: 'three' });
    await clock.advance(1_999);
    expect(await readHeader(keyedServer)).toBe('two');
    await clock.advance(1);
    expect(await readHeader(keyedServer)).toBe('three');
    await otherVariables.set(keyedServer, alice, { KEY: 'four' });
    await store.changes.publish({ topic: 'variables', id: '*' });
    expect(await readHeader(keyedServer)).toBe('four');
    await otherVariables.removeAll(keyedServer, alice);
    await clock.advance(2_000);
    await expect(readHeader(keyedServer)).rejects.toMatchObject({ code: 'MCP_USER_VARS_MISSING' });
  });

  test('nothing is read again while the feed hears everything, up to half a minute', async () => {
    const { variables, readHeader, clock, counts, hearAll } = createCredentialsRig();
    await variables.set(keyedServer, alice, { KEY: 'one' });
    await readHeader(keyedServer);
    const { listCount } = counts();
    for (let second = 1; second < 30; second += 1) {
      await clock.advance(1_000);
      hearAll();
      await readHeader(keyedServer);
    }
    expect(counts().listCount).toBe(listCount);
    await clock.advance(1_000);
    hearAll();
    await readHeader(keyedServer);
    expect(counts().listCount).toBe(listCount + 1);
  });

  test('what was being read when a notice came is kept for nobody', async () => {
    const { store, keyring, clock } = createCredentialsRig();
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
    await variables.set(keyedServer, alice, { KEY: 'old' });
    const owner = { tenant: 'default', userId: 'alice', serverId: 'server' };
    const early = cache.read(owner);
    await clock.advance(0);
    slow = false;
    await variables.set(keyedServer, alice, { KEY: 'new' });
    const late = cache.read(owner);
    release();
    expect((await early).values).toEqual({ KEY: 'old' });
    expect((await late).values).toEqual({ KEY: 'new' });
    expect((await cache.read(owner)).values).toEqual({ KEY: 'new' });
    cache.close();
  });

  test('calls run on for half a minute without the store, then fail', async () => {
    const { variables, readHeader, clock, setStoreDown, store } = createCredentialsRig();
    await variables.set(keyedServer, alice, { KEY: 'k' });
    expect(await readHeader(keyedServer)).toBe('k');
    setStoreDown(true);
    await clock.advance(29_999);
    expect(await readHeader(keyedServer)).toBe('k');
    await expect(readHeader(keyedServer, bob)).rejects.toThrow('away');
    await clock.advance(1);
    await expect(readHeader(keyedServer)).rejects.toThrow('away');
    setStoreDown(false);
    expect(await readHeader(keyedServer)).toBe('k');
    setStoreDown(true);
    await store.changes.publish({ topic: 'variables', id: '*' });
    await expect(readHeader(keyedServer)).rejects.toThrow('away');
  });

  test('ten thousand users are remembered, and no more', async () => {
    const { cache, counts } = createCredentialsRig();
    const owner = (i: number) => ({ tenant: 'default', userId: `u${i}`, serverId: 's' });
    for (let i = 0; i <= 10_000; i += 1) await cache.read(owner(i));
    const before = counts().listCount;
    await cache.read(owner(10_000));
    await cache.read(owner(1));
    expect(counts().listCount).toBe(before);
    await cache.read(owner(0));
    expect(counts().listCount).toBe(before + 1);
  });
});

import { createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { toServerSealContext, toVariableSealContext, variableId } from '../ports/index.ts';
import { type StoredDefinition, createStoredServers, hashSecurityDecision } from './stored.ts';

const definition = {
  type: 'streamable-http',
  url: 'https://user.example/mcp',
  headers: { 'X-Key': 'pl4nted-header' },
  apiKey: { source: 'admin', authorization_type: 'bearer', key: 'pl4nted-key' },
};

function rig() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
  const logged: string[] = [];
  const parts = {
    servers: store.servers,
    variables: store.variables,
    changes: store.changes,
    keyring,
    clock,
    random: systemRandom,
    log: (event: string, fields: object) => logged.push(`${event} ${JSON.stringify(fields)}`),
  };
  const create = async (name = 'mine', tenant = 'default') => {
    const created = await createStoredServers(parts).create({ tenant, name, author: 'u1', definition });
    if (created === 'taken') throw new Error('taken');
    return created;
  };
  return { clock, store, keyring, logged, parts, stored: createStoredServers(parts), create };
}

type Rig = ReturnType<typeof rig>;

describe('stored servers', () => {
  test('nothing of a definition stands in the store in clear', async () => {
    const { store, stored, create } = rig();
    const created = await create();
    expect(await stored.load()).toEqual([created]);
    const rows = JSON.stringify(await store.raw.page('servers', null, 10));
    for (const secret of ['pl4nted', 'user.example', 'X-Key']) expect(rows).not.toContain(secret);
  });

  test('one moved into another row does not open, and hides no other', async () => {
    const { store, stored, logged, create } = rig();
    const one = await create('one');
    const two = await create('two');
    const other = await create('one', 'other');
    const row = async (server: StoredDefinition) => (await store.servers.find(server.tenant, server.id))!;
    for (const into of [two, other]) {
      await store.raw.put('servers', [{ ...(await row(into)), configSealed: (await row(one)).configSealed }]);
    }
    expect(await stored.load()).toEqual([one]);
    expect(logged).toHaveLength(2);
    expect(logged[0]).toContain('tampered');
  });

  test('what the tier refuses is never stored, and the fields are named', async () => {
    const { store, stored } = rig();
    const bad = { ...definition, headers: { A: '${CREDS_KEY}' } };
    const creating = stored.create({ tenant: 'default', name: 'mine', author: 'u1', definition: bad });
    await expect(creating).rejects.toMatchObject({
      code: 'MCP_CONFIG_INVALID',
      errors: [{ path: 'mcpServers.mine.headers.A', code: 'placeholder_forbidden' }],
    });
    await expect(
      stored.create({ tenant: 'default', name: 'a/b', author: 'u1', definition }),
    ).rejects.toMatchObject({ code: 'MCP_CONFIG_INVALID' });
    expect(await store.raw.count('servers')).toBe(0);
  });

  test('a change says which version it saw; a name is taken once', async () => {
    const { store, stored, create } = rig();
    const { id, tenant } = await create();
    await create('other');
    expect(await stored.create({ tenant, name: 'mine', author: 'u2', definition })).toBe('taken');
    const change = { tenant, id, name: 'mine', definition: { ...definition, title: 'New' }, changedBy: 'u2' };
    expect(await stored.change(change, 1)).toBe('changed');
    expect(await stored.change(change, 1)).toBe('version_conflict');
    expect(await stored.change({ ...change, name: 'other' }, 2)).toBe('taken');
    expect(await stored.change({ ...change, tenant: 'elsewhere' }, 2)).toBe('missing');
    expect(await store.servers.find(tenant, id)).toMatchObject({ version: 2, author: 'u1', updatedBy: 'u2' });
    expect((await stored.load()).find((server) => server.id === id)).toMatchObject({
      version: 2,
      definition: { title: 'New' },
    });
  });

  test('a removed server takes its users’ values along, and no others', async () => {
    const { store, stored, keyring, create } = rig();
    const { id, tenant } = await create();
    const keys = [id, 'of the file'].map((serverId) => ({ tenant, userId: 'u1', serverId, name: 'A' }));
    await store.variables.put(
      keys.map((key) => ({
        id: variableId(key),
        ...key,
        valueSealed: keyring.seal('v', toVariableSealContext(key)),
        updatedAt: 1,
      })),
    );
    expect(await stored.remove(tenant, 'of the file')).toBe(false);
    expect(await store.raw.count('variables')).toBe(2);
    expect(await stored.remove(tenant, id)).toBe(true);
    expect((await store.raw.page('variables', null, 10)).map(({ serverId }) => serverId)).toEqual([
      'of the file',
    ]);
  });

  test('values that users entered go when they would be sent elsewhere, and stay otherwise', async () => {
    const enter = async ({ store, keyring }: Rig, tenant: string, serverId: string) => {
      const key = { tenant, userId: 'u7', serverId, name: 'A' };
      const valueSealed = keyring.seal('v', toVariableSealContext(key));
      await store.variables.put([{ id: variableId(key), ...key, valueSealed, updatedAt: 1 }]);
    };
    const byUser = { ...definition, apiKey: { source: 'user', authorization_type: 'bearer' } };
    const stays: object[] = [
      { ...byUser, title: 'New', url: 'https://USER.example:443/mcp' },
      { ...byUser, headers: { 'X-Key': 'another', 'X-More': 'literal' } },
    ];
    const goes: object[] = [
      { ...byUser, url: 'https://evil.example/mcp' },
      { ...byUser, url: 'https://user.example/other' },
      { ...byUser, url: 'https://user.example/mcp?log=1' },
      { ...byUser, url: 'https://user.example:8443/mcp' },
      { ...byUser, url: 'http://user.example/mcp' },
      { ...byUser, headers: { 'X-Copy': '{{MCP_API_KEY}}' } },
      { ...byUser, url: 'https://user.example/{{MCP_API_KEY}}' },
      { ...byUser, oauth: { client_id: '{{MCP_API_KEY}}' } },
      { ...byUser, apiKey: { source: 'user', authorization_type: 'custom', custom_header: 'X-Log' } },
    ];
    for (const [expected, next] of [
      ...stays.map((one) => [1, one] as const),
      ...goes.map((one) => [0, one] as const),
    ]) {
      const made = rig();
      const { store, stored } = made;
      const created = await stored.create({
        tenant: 'default',
        name: 'mine',
        author: 'u1',
        definition: byUser,
      });
      if (created === 'taken') throw new Error('taken');
      const { id, tenant } = created;
      await enter(made, tenant, id);
      const change = { tenant, id, name: 'mine', definition: next, changedBy: 'u1' };
      // One who is told that somebody else was faster has changed nothing.
      expect(await stored.change(change, 7)).toBe('version_conflict');
      expect(await store.raw.count('variables')).toBe(1);
      expect([next, await stored.change(change, 1)]).toEqual([next, 'changed']);
      expect([next, await store.raw.count('variables')]).toEqual([next, expected]);
    }
  });

  test('none is left when the change is there, nor one that was entered meanwhile', async () => {
    const made = rig();
    const { store, keyring, parts, create } = made;
    const { id, tenant } = await create();
    const key = { tenant, userId: 'u7', serverId: id, name: 'A' };
    const value = {
      id: variableId(key),
      ...key,
      valueSealed: keyring.seal('v', toVariableSealContext(key)),
      updatedAt: 1,
    };
    await store.variables.put([value]);
    let leftAtChange = -1;
    const loggedEvents: string[] = [];
    store.changes.subscribe(({ topic, id: what }) => loggedEvents.push(`${topic} ${what}`));
    const servers: typeof parts.servers = {
      ...parts.servers,
      async replace(...args) {
        leftAtChange = await store.raw.count('variables');
        loggedEvents.push('replaced');
        await store.variables.put([value]);
        return parts.servers.replace(...args);
      },
    };
    const otherUrl = { ...definition, url: 'https://evil.example/mcp' };
    const change = { tenant, id, name: 'mine', definition: otherUrl, changedBy: 'u1' };
    expect(await createStoredServers({ ...parts, servers }).change(change, 1)).toBe('changed');
    expect([leftAtChange, await store.raw.count('variables')]).toEqual([0, 0]);
    // Whoever remembers values hears of it before anybody hears of the new definition.
    expect(loggedEvents).toEqual(['variables *', 'replaced', 'variables *', `servers ${id}`]);
  });

  test('who changes more than texts and the picture answers for it from then on', async () => {
    const { clock, store, stored, create } = rig();
    const { id, tenant, securityDecision } = await create();
    expect(securityDecision).toEqual({ decidedBy: 'u1', isIntact: true });
    const securedBy = async () => (await store.servers.find(tenant, id))!.securedBy;
    const { securedHash, securedAt } = (await store.servers.find(tenant, id))!;
    let version = 0;
    const change = async (next: object, changedBy: string) => {
      await clock.advance(1_000);
      const outcome = await stored.change(
        { tenant, id, name: 'mine', definition: next, changedBy },
        (version += 1),
      );
      expect(outcome).toBe('changed');
    };
    const { url, type, headers, apiKey } = definition;
    const { key, authorization_type, source } = apiKey;
    // The same in other words and another order, with other texts.
    const inOtherWords = {
      title: 'New',
      apiKey: { key, custom_header: 'X-Api-Key', authorization_type, source },
      headers: { 'x-key': headers['X-Key'] },
      url: url.replace('user.example', 'USER.example:443'),
      type,
    };
    await change(inOtherWords, 'u2');
    expect(await securedBy()).toBe('u1');
    expect(await stored.find(tenant, id)).toMatchObject({
      definition: { ...definition, title: 'New' },
      securityDecision: { decidedBy: 'u1', isIntact: true },
    });
    expect(await store.servers.find(tenant, id)).toMatchObject({ securedHash, securedAt });
    await change({ ...definition, headers: { 'X-Key': 'another' } }, 'u3');
    expect(await securedBy()).toBe('u3');
    expect((await store.servers.find(tenant, id))!.securedAt).toBeGreaterThan(securedAt);
    await change({ ...definition, url: 'https://user.example/other' }, 'u4');
    expect((await stored.find(tenant, id))?.securityDecision).toEqual({ decidedBy: 'u4', isIntact: true });
  });

  test('a record that says another thing than was decided is not intact', async () => {
    const { store, stored, keyring, create } = rig();
    const { id, tenant } = await create();
    const record = (await store.servers.find(tenant, id))!;
    const otherUrl = { ...definition, url: 'https://evil.example/mcp' };
    const configSealed = keyring.seal(
      JSON.stringify(otherUrl),
      toServerSealContext({ tenant, id, securedBy: 'u1' }),
    );
    for (const tampered of [{ configSealed }, { securedHash: '' }]) {
      await store.raw.put('servers', [{ ...record, ...tampered }]);
      expect([tampered, (await stored.find(tenant, id))?.securityDecision.isIntact]).toEqual([
        tampered,
        false,
      ]);
    }
    // Whoever writes to the store cannot put a trusted name to it: the definition is sealed to who decided.
    const forged = { securedBy: 'u9', securedHash: hashSecurityDecision('u9', definition) };
    await store.raw.put('servers', [{ ...record, ...forged }]);
    expect(await stored.find(tenant, id)).toBeNull();
    await store.raw.put('servers', [record]);
    expect((await stored.find(tenant, id))?.securityDecision.isIntact).toBe(true);
  });

  test('a change is heard at once, and within two seconds when no notice can be relied upon', async () => {
    const { clock, store, parts, create } = rig();
    const received: string[][] = [];
    // A feed that hears nothing of others, and says so.
    const changes = { ...store.changes, syncedUntil: () => 0 };
    const following = createStoredServers({ ...parts, changes }).subscribe((servers) =>
      received.push(servers.map(({ name }) => name)),
    );
    await following.ready;
    await create('one');
    await clock.advance(0);
    expect(received).toEqual([[], ['one']]);
    // Written by a process whose notice was lost.
    const [row] = await store.servers.list();
    await store.raw.put('servers', [{ ...row!, name: 'renamed', version: 2 }]);
    await clock.advance(2_000);
    expect(received.at(-1)).toEqual(['renamed']);
    const before = received.length;
    await clock.advance(10_000);
    expect(received).toHaveLength(before);
    following.stop();
    await create('two');
    await clock.advance(10_000);
    expect(received).toHaveLength(before);
  });

  test('an outage of half a minute ends them; the first answer brings them back', async () => {
    const { clock, parts, create } = rig();
    await create('one');
    let away = false;
    let answeredAt = 0;
    const servers = {
      ...parts.servers,
      listVersions: () => (away ? Promise.reject(new Error('away')) : parts.servers.listVersions()),
    };
    const changes = {
      ...parts.changes,
      syncedUntil: () => (answeredAt = away ? answeredAt : clock.now()),
    };
    const received: number[] = [];
    const following = createStoredServers({ ...parts, servers, changes }).subscribe((all) =>
      received.push(all.length),
    );
    await following.ready;
    expect(following.isFresh()).toBe(true);
    away = true;
    await clock.advance(28_000);
    expect(received).toEqual([1]);
    expect(following.isFresh()).toBe(false);
    await clock.advance(4_000);
    expect(received).toEqual([1, 0]);
    expect(following.current()).toEqual([]);
    away = false;
    await clock.advance(2_000);
    expect(received).toEqual([1, 0, 1]);
    following.stop();
  });
});

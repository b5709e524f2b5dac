import type { OverrideRecord, PrimaryStore, StoredServerRecord } from '@behalf/gateway/ports';
import { systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { openPrimary } from '@behalf/stores/open';
import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startAttackRig, type AttackRig, type StoredServer } from './oboAttackersRig.ts';
import { subjectSeenByServer } from './oboCaller.ts';

describe('somebody who can write to the store, and has not the key', () => {
  let rig: AttackRig;
  let store: PrimaryStore;
  let shared: StoredServer;
  let evil: StoredServer;
  let ids: Record<'ada' | 'otto' | 'olga', string>;
  beforeAll(async () => {
    rig = await startAttackRig('entra-secret');
    shared = await rig.createServer('otto', rig.createOboDefinition(rig.goodServer.url, { title: 'Shared' }));
    evil = await rig.createServer('cara', {
      type: 'streamable-http',
      url: rig.evilServer.url,
      title: 'Evil',
    });
    const [ada, otto, olga] = [await rig.signIn('ada'), await rig.signIn('otto'), await rig.signIn('olga')];
    ids = { ada, otto, olga };
    store = await openPrimary({ dataDir: rig.dataDir }, { clock, random });
  }, 60_000);
  beforeEach(() => rig.forgetRequests());
  afterAll(async () => {
    await store.close();
    await rig.close();
  });

  const tell = async () => {
    await store.changes.publish({ topic: 'servers', id: '*' });
    await store.changes.publish({ topic: 'overrides', id: '*' });
  };
  const codeOf = async (server: string) => {
    const { status, body } = await rig.callServer('uma', server);
    return status === 200 ? null : (body.code ?? 'none');
  };
  async function rowOf({ id }: StoredServer): Promise<StoredServerRecord> {
    const row = (await store.raw.page('servers', null, 100)).find((one) => one.id === id);
    if (!row) throw new Error('There is no such row');
    return row;
  }

  /** Nothing of it is served any more, in whatever words, and nothing leaves for it. */
  async function expectRefused(server: string): Promise<string> {
    const code = await eventually('the change to be noticed', () => codeOf(server));
    rig.forgetRequests();
    for (const user of ['uma', 'vic']) {
      for (const path of ['prompts', 'resources']) {
        const { status } = await rig.send(user, 'GET', `/api/mcp/servers/${server}/${path}`);
        expect([403, 404, 500, 503]).toContain(status);
      }
      expect((await rig.callServer(user, server)).body.code).toBe(code);
      const again = await rig.send(user, 'POST', `/api/mcp/${server}/reinitialize`, {});
      expect(again.body['success'] ?? false).toBe(false);
    }
    expect(rig.requestsTo(rig.goodServer)).toEqual([]);
    expect(rig.requestsTo(rig.evilServer)).toEqual([]);
    expect(rig.mail.credentials.all()).toEqual([]);
    expect(rig.idp.requestLog.entries).toEqual([]);
    return code;
  }

  async function expectWorks(server: string): Promise<void> {
    await eventually('it to work again', async () => (await codeOf(server)) === null || null);
    expect(subjectSeenByServer(await rig.callServer('uma', server))).toBe('uma');
  }

  const tampered: Record<string, [code: RegExp, (row: StoredServerRecord) => Promise<StoredServerRecord>]> = {
    'names somebody else who may': [/_NOT_FOUND$/, async (row) => ({ ...row, securedBy: ids.olga })],
    'names an administrator': [
      /_NOT_FOUND$/,
      async (row) => ({ ...row, securedBy: ids.ada, author: ids.ada, updatedBy: ids.ada }),
    ],
    'has another sum': [
      /^MCP_OBO_FORBIDDEN$/,
      async (row) => ({ ...row, securedHash: row.securedHash.split('').reverse().join('') }),
    ],
    'has no sum': [/^MCP_OBO_FORBIDDEN$/, async (row) => ({ ...row, securedHash: '' })],
    'holds the definition of another one': [
      /_NOT_FOUND$/,
      async (row) => ({ ...row, configSealed: (await rowOf(evil)).configSealed }),
    ],
    'holds the definition and the words of another one': [
      /_NOT_FOUND$/,
      async (row) => ({
        ...(await rowOf(evil)),
        id: row.id,
        name: row.name,
        normalizedName: row.normalizedName,
      }),
    ],
    'holds a definition with another end': [
      /_NOT_FOUND$/,
      async (row) => ({ ...row, configSealed: `${row.configSealed.slice(0, -2)}AA` }),
    ],
    'holds a definition in clear': [
      /_NOT_FOUND$/,
      async (row) => ({ ...row, configSealed: JSON.stringify(rig.createOboDefinition(rig.evilServer.url)) }),
    ],
  };
  for (const [what, [code, tamper]] of Object.entries(tampered)) {
    test(`a row that ${what}: nothing is sent`, async () => {
      await expectWorks(shared.name);
      const row = await rowOf(shared);
      const changed = await tamper(row);
      await store.raw.put('servers', [{ ...changed, version: row.version + 1 }]);
      await tell();
      expect(await expectRefused(shared.name)).toMatch(code);
      await store.raw.put('servers', [{ ...row, version: row.version + 2 }]);
      await tell();
      await expectWorks(shared.name);
    });
  }

  test('the author of a row has no say: who decided has', async () => {
    const made = await rig.createServer(
      'olga',
      rig.createOboDefinition(rig.goodServer.url, { title: 'Of Olga' }),
    );
    await expectWorks(made.name);
    const role = (name: string) => rig.send('ada', 'PATCH', `/api/admin/users/${ids.olga}`, { role: name });
    expect((await role('CREATOR')).status).toBe(200);
    const row = await rowOf(made);
    const changed = { ...row, author: ids.otto, updatedBy: ids.otto, version: row.version + 1 };
    await store.raw.put('servers', [changed]);
    await tell();
    await eventually('the row to be read', async () => {
      const { body } = await rig.send('ada', 'GET', `/api/mcp/servers/${made.name}`);
      return body['version'] === changed.version || null;
    });
    expect(await expectRefused(made.name)).toBe('MCP_OBO_FORBIDDEN');
  });

  test('an override that names another administrator hides its server', async () => {
    const config = { obo: { scopes: 'api://mail/Mail.Read' } };
    expect((await rig.send('ada', 'PUT', '/api/admin/mcp/servers/mail', { config })).status).toBe(200);
    await expectWorks('mail');
    const [row] = (await store.raw.page('overrides', null, 10)) as [OverrideRecord];
    for (const change of [
      { securedBy: ids.otto },
      { configSealed: (await rowOf(shared)).configSealed },
      { configSealed: JSON.stringify({ url: rig.evilServer.url }) },
      { securedBy: '' },
    ]) {
      await store.raw.put('overrides', [{ ...row, ...change, version: row.version + 1 }]);
      await tell();
      expect(await expectRefused('mail')).toMatch(/_NOT_FOUND$/);
      await store.raw.put('overrides', [row]);
      await tell();
      await expectWorks('mail');
    }
  });
});

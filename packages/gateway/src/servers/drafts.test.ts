import { createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { aCredential, aDraft, aFlow, aStoredServer, anOAuthClient } from '@behalf/testkit/suites';
import { describe, expect, test } from '@jest/globals';
import { createRetiringServers, createServerGrants } from '../credentials/signin/serverGrants.ts';
import { toDraftName } from '../definitions/definition.ts';
import { createServerDrafts } from './drafts.ts';

const QUARTER = 15 * 60 * 1000;
const MINUTE = 60 * 1000;
const definition = { type: 'streamable-http', url: 'https://mcp.example/mcp', title: 'New server' };
const mia = aPrincipal({ userId: 'mia' });
const eve = aPrincipal({ userId: 'eve' });

function rig() {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
  const ended: string[] = [];
  const drafts = createServerDrafts({
    ...{ store: store.drafts, servers: store.servers, keyring, clock, random: systemRandom },
    requirePermission: () => () => undefined,
    grants: createServerGrants({
      vault: {
        remove: (key) => {
          ended.push(key.serverId);
          return store.credentials.remove(key);
        },
      },
      ...{ credentials: store.credentials, flows: store.oauthFlows, clients: store.oauthClients },
      retiring: createRetiringServers(),
    }),
  });
  /** What a sign-in leaves behind. */
  async function signedIn(serverId: string) {
    const { tenant, userId } = mia;
    await store.credentials.insert(aCredential({ tenant, principal: `user:${userId}`, serverId }));
    await store.oauthClients.insert(anOAuthClient({ tenant, serverId }));
    const caps = { perUser: 9, perTenant: 9 };
    await store.oauthFlows.insert(aFlow({ id: serverId, tenant, userId, serverId }), caps, clock.now());
  }
  const left = async () => ({
    drafts: await store.raw.count('drafts'),
    credentials: await store.raw.count('credentials'),
    clients: await store.raw.count('oauthClients'),
  });
  return { clock, store, keyring, drafts, ended, signedIn, left };
}

describe('drafts', () => {
  test('are one for one definition of one user, while there is time to sign in', async () => {
    const { clock, drafts } = rig();
    const { draft, isNew } = await drafts.open(mia, definition);
    expect([isNew, draft.expiresAt - draft.createdAt]).toEqual([true, QUARTER]);
    expect((await drafts.open(mia, { ...definition })).draft.id).toBe(draft.id);
    const others = [
      await drafts.open(mia, { ...definition, type: 'sse' }),
      await drafts.open(mia, { ...definition, url: `${definition.url}?other` }),
      await drafts.open(eve, definition),
      await drafts.open(aPrincipal({ userId: 'mia', tenant: 'acme' }), definition),
    ];
    expect(new Set([draft.id, ...others.map((each) => each.draft.id)]).size).toBe(5);
    await clock.advance((QUARTER * 2) / 3);
    expect((await drafts.open(mia, definition)).isNew).toBe(true);
  });

  test('have an end for each user', async () => {
    const { clock, drafts } = rig();
    const open = (n: number) => drafts.open(mia, { ...definition, url: `https://mcp.example/${n}` });
    for (let n = 0; n < 10; n += 1) await open(n);
    await expect(open(10)).rejects.toMatchObject({ code: 'MCP_FLOW_LIMIT' });
    await drafts.open(eve, definition);
    await clock.advance(QUARTER);
    await open(11);
  });

  test('do not open as those of another user or id', async () => {
    const { store, drafts } = rig();
    const { draft } = await drafts.open(mia, definition);
    const [record] = await store.drafts.listByUser('default', 'mia');
    if (!record) throw new Error('none');
    expect(record.sealed).not.toContain('mcp.example');
    await store.raw.put('drafts', [
      { ...record, userId: 'eve' },
      { ...record, id: 'moved' },
    ]);
    expect(await drafts.findOwn(eve, draft.id)).toBeNull();
    expect(await drafts.findOwn(mia, 'moved')).toBeNull();
    expect(await drafts.get('default', 'moved')).toBeUndefined();
    await store.raw.put('drafts', [record]);
    expect(await drafts.findOwn(mia, draft.id)).toMatchObject({ definition });
    expect(await drafts.findOwn(aPrincipal({ userId: 'mia', tenant: 'acme' }), draft.id)).toBeNull();
  });

  test('end with all that was given for them, a while after their time', async () => {
    const { clock, drafts, ended, signedIn, left } = rig();
    const { draft } = await drafts.open(mia, definition);
    await signedIn(draft.id);
    await drafts.sweep();
    await clock.advance(QUARTER);
    // Over for everybody at once; taken away when no replica's clock can see it otherwise.
    expect(await drafts.findOwn(mia, draft.id)).toBeNull();
    expect(await drafts.get('default', draft.id)).toBeUndefined();
    await drafts.sweep();
    expect(await left()).toEqual({ drafts: 1, credentials: 1, clients: 1 });
    await clock.advance(MINUTE);
    await drafts.sweep();
    expect(ended).toEqual([draft.id]);
    expect(await left()).toEqual({ drafts: 0, credentials: 0, clients: 0 });
  });

  test('leave what they gave to the server that was made of them', async () => {
    const { clock, store, drafts, ended, signedIn, left } = rig();
    const { draft } = await drafts.open(mia, definition);
    await signedIn(draft.id);
    expect([await drafts.consume(draft), await drafts.consume(draft)]).toEqual([true, false]);
    // For renewals, until every replica knows the server; for nothing that goes on with the draft.
    expect(await drafts.get('default', draft.id)).toMatchObject({ name: toDraftName(draft.id) });
    expect(await drafts.findOwn(mia, draft.id)).toBeNull();
    await expect(drafts.authorize(mia, toDraftName(draft.id))).rejects.toMatchObject({
      code: 'MCP_SERVER_NOT_FOUND',
    });
    await drafts.discard(draft);
    expect(ended).toEqual([]);
    await store.servers.insert(aStoredServer({ id: draft.id }));
    await clock.advance(MINUTE);
    expect(await drafts.get('default', draft.id)).toBeUndefined();
    await drafts.sweep();
    expect(await left()).toEqual({ drafts: 0, credentials: 1, clients: 1 });
  });

  test('that were taken for nothing end as all others do', async () => {
    const { clock, drafts, ended, signedIn, left } = rig();
    const { draft } = await drafts.open(mia, definition);
    await signedIn(draft.id);
    await drafts.consume(draft);
    await clock.advance(MINUTE);
    await drafts.sweep();
    expect(ended).toEqual([draft.id]);
    expect(await left()).toEqual({ drafts: 0, credentials: 0, clients: 0 });
  });

  test('that do not open any more end with what was given for them', async () => {
    const { clock, store, drafts, ended, signedIn, left } = rig();
    const lost = aDraft({ expiresAt: clock.now() });
    await store.drafts.insert(lost, 1);
    await signedIn(lost.id);
    await clock.advance(MINUTE);
    await drafts.sweep();
    expect(ended).toEqual([lost.id]);
    expect(await left()).toEqual({ drafts: 0, credentials: 0, clients: 0 });
  });

  test('that cannot be opened any more go without a word', async () => {
    const { clock, store, drafts } = rig();
    await store.drafts.insert(aDraft({ expiresAt: clock.now() }), 1);
    await clock.advance(MINUTE);
    await drafts.sweep();
    expect(await store.raw.count('drafts')).toBe(0);
  });
});

import type { ShareRequest } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { createAccessRig, silentChanges } from '../../test/accessRig.ts';
import { defineServer } from '../../test/toolcallRig.ts';
import type { AclRecord, ChangeFeed } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import {
  getManagedServer,
  getServerSharing,
  listManageBits,
  searchPrincipals,
  shareServer,
} from './shareServer.ts';

const coded = (code: string) => expect.objectContaining({ code });
const viewer = (id: string, type: 'user' | 'group' | 'role' = 'user') =>
  ({ type, id, accessRoleId: 'mcpServer_viewer' }) as const;
const owner = (id: string) => ({ type: 'user', id, accessRoleId: 'mcpServer_owner' }) as const;
const privateSharing: ShareRequest = { updated: [], removed: [], public: false };

/** Ada owns `s`; the role USER may share. */
async function createRig({ changes }: { changes?: ChangeFeed } = {}) {
  const rig = createAccessRig();
  const servers = [
    defineServer('s', {}, { source: 'user', author: 'ada' }),
    defineServer('file'),
    defineServer('closed', { access: { users: ['bob'] } }),
  ];
  const namedPermissions = { ADMIN: {}, USER: { SHARE: true } };
  const gateway = rig.gateway({ servers, namedPermissions, ...(changes && { changes }) });
  await gateway.ready;
  const [ada, bob, eve] = [
    await rig.createUser('ada'),
    await rig.createUser('bob'),
    await rig.createUser('eve'),
  ];
  const root = await rig.createUser('root', { role: 'ADMIN' });
  await rig.createUser('stranger', { tenant: 'elsewhere' });
  await gateway.acl.grantOwner({ tenant: 'default', id: 's' }, 'ada');
  const share = (who: UserPrincipal, request: Partial<ShareRequest>, id = 's') =>
    shareServer(gateway.sharing, who, id, { ...privateSharing, ...request });
  const bits = (who: UserPrincipal, id = 's') =>
    gateway.acl.getUseBits(who, servers.find((server) => server.id === id) as (typeof servers)[number]);
  return { ...rig, ...gateway, ada, bob, eve, root, share, bits };
}

describe('sharing', () => {
  test('an owner shares with users, groups and roles, and takes it back', async () => {
    const { share, bits, sharing, ada, bob, eve, events } = await createRig();
    const shown = await share(ada, {
      updated: [{ ...viewer('bob'), accessRoleId: 'mcpServer_editor' }, viewer('staff', 'group')],
    });
    expect(shown.principals).toEqual([
      { type: 'group', id: 'staff', name: 'staff', accessRoleId: 'mcpServer_viewer' },
      { type: 'user', id: 'ada', name: 'ada', email: 'ada@example.com', accessRoleId: 'mcpServer_owner' },
      { type: 'user', id: 'bob', name: 'bob', email: 'bob@example.com', accessRoleId: 'mcpServer_editor' },
    ]);
    expect([bits(bob), bits(eve), bits({ ...eve, groups: ['staff'] })]).toEqual([3, 0, 1]);
    await share(ada, { updated: [viewer('ADMIN', 'role')], removed: [{ type: 'user', id: 'bob' }] });
    expect([bits(bob), bits(eve), bits({ ...eve, role: 'ADMIN' })]).toEqual([0, 0, 1]);
    expect((await getServerSharing(sharing, ada, 's')).principals).toHaveLength(3);
    expect(events).toMatchObject([
      { kind: 'permission', action: 'acl.change', changed: ['user:bob', 'group:staff'], serverId: 's' },
      { action: 'acl.change', outcome: 'ok', changed: ['role:ADMIN', 'user:bob'], actor: { id: 'ada' } },
    ]);
  });

  test('it takes the bit of the role and the bit of the server', async () => {
    const { share, bits, ada, bob, eve, rename } = await createRig();
    await share(ada, { updated: [{ ...viewer('bob'), accessRoleId: 'mcpServer_editor' }] });
    await expect(share(bob, { updated: [viewer('eve')] })).rejects.toEqual(coded('MCP_ACL_FORBIDDEN'));
    rename({ ADMIN: {}, USER: {} });
    await expect(share(ada, { updated: [viewer('eve')] })).rejects.toEqual(coded('MCP_FORBIDDEN'));
    expect(bits(eve)).toBe(0);
  });

  test('who loses the bit while waiting for their turn shares nothing', async () => {
    const { share, bits, clock, ada, bob, eve } = await createRig();
    await share(ada, { updated: [owner('bob')] });
    const both = Promise.allSettled([
      share(ada, { updated: [viewer('bob')] }),
      share(bob, { updated: [viewer('eve')] }),
    ]);
    await clock.advance(1_000);
    expect((await both)[1]).toEqual({ status: 'rejected', reason: coded('MCP_ACL_FORBIDDEN') });
    expect([bits(bob), bits(eve)]).toEqual([1, 0]);
  });

  test('an unknown and an invisible server answer alike', async () => {
    const { share, sharing, ada, eve } = await createRig();
    const unrelatedUser = { ...ada, tenant: 'elsewhere' };
    for (const [who, id] of [
      [eve, 's'],
      [eve, 'unknown'],
      [eve, 'closed'],
      [unrelatedUser, 's'],
      [eve, '__proto__'],
    ] as const) {
      const refusals = await Promise.allSettled([
        share(who, { updated: [viewer('bob')] }, id),
        getServerSharing(sharing, who, id),
        (async () => getManagedServer(sharing, who, id))(),
      ]);
      for (const refusal of refusals) {
        expect([id, refusal]).toEqual([id, { status: 'rejected', reason: coded('MCP_SERVER_NOT_FOUND') }]);
      }
    }
    expect(listManageBits(sharing, eve)).toEqual({ file: 1 });
    expect(listManageBits(sharing, ada)).toEqual({ s: 15, file: 1 });
  });

  test('to make it public takes one bit more; to end that does not', async () => {
    const { share, bits, ada, eve, rename } = await createRig();
    await expect(share(ada, { public: true })).rejects.toEqual(coded('MCP_FORBIDDEN'));
    expect(bits(eve)).toBe(0);
    rename({ ADMIN: {}, USER: { SHARE: true, SHARE_PUBLIC: true } });
    expect(await share(ada, { public: true })).toMatchObject({
      public: true,
      publicAccessRoleId: 'mcpServer_viewer',
    });
    expect(bits(eve)).toBe(1);
    rename({ ADMIN: {}, USER: { SHARE: true } });
    // Left as it is it does not matter; anything more does.
    await share(ada, { public: true, updated: [viewer('bob')] });
    await expect(share(ada, { public: true, publicAccessRoleId: 'mcpServer_editor' })).rejects.toEqual(
      coded('MCP_FORBIDDEN'),
    );
    expect(await share(ada, { public: false })).toMatchObject({ public: false });
    expect(bits(eve)).toBe(0);
  });

  test('the role that everybody begins with is as public', async () => {
    const { share, bits, ada, eve, rename } = await createRig();
    const everyRole = viewer('USER', 'role');
    await expect(share(ada, { updated: [viewer('bob'), everyRole] })).rejects.toEqual(coded('MCP_FORBIDDEN'));
    expect(bits(eve)).toBe(0);
    rename({ ADMIN: {}, USER: { SHARE: true, SHARE_PUBLIC: true } });
    await share(ada, { updated: [everyRole] });
    expect(bits(eve)).toBe(1);
    rename({ ADMIN: {}, USER: { SHARE: true } });
    await share(ada, { updated: [everyRole, viewer('bob')] });
    await expect(
      share(ada, { updated: [{ ...everyRole, accessRoleId: 'mcpServer_editor' }] }),
    ).rejects.toEqual(coded('MCP_FORBIDDEN'));
    await share(ada, { removed: [{ type: 'role', id: 'USER' }] });
    expect(bits(eve)).toBe(0);
  });

  test('nobody gives or takes what they do not have', async () => {
    const { share, sharing, grantAccess, clock, bits, root, bob } = await createRig();
    await expect(share(root, { public: true, updated: [owner('bob')] }, 'file')).rejects.toEqual(
      coded('MCP_ACL_FORBIDDEN'),
    );
    await expect(
      share(root, { public: true, publicAccessRoleId: 'mcpServer_editor' }, 'file'),
    ).rejects.toEqual(coded('MCP_ACL_FORBIDDEN'));
    // Rows that only a restored store could hold: to share without more, beside an owner.
    await grantAccess({ serverId: 's', principalType: 'user', principalId: 'bob', bits: 9 });
    await clock.advance(0);
    await expect(share(bob, { updated: [viewer('ada')] })).rejects.toEqual(coded('MCP_ACL_FORBIDDEN'));
    await expect(share(bob, { removed: [{ type: 'user', id: 'ada' }] })).rejects.toEqual(
      coded('MCP_ACL_FORBIDDEN'),
    );
    await expect(share(bob, { updated: [owner('bob')] })).rejects.toEqual(coded('MCP_ACL_FORBIDDEN'));
    await share(bob, { updated: [viewer('eve')] });
    expect([bits(bob), getManagedServer(sharing, bob, 's').bits]).toEqual([9, 9]);
  });

  test('the last owner stays, unless an administrator decides', async () => {
    const { share, bits, ada, root } = await createRig();
    for (const change of [
      { removed: [{ type: 'user', id: 'ada' }] },
      { updated: [viewer('ada')] },
    ] as Partial<ShareRequest>[]) {
      await expect(share(ada, change)).rejects.toMatchObject({
        code: 'REQUEST_INVALID',
        errors: [{ code: 'last_owner' }],
      });
    }
    expect(bits(ada)).toBe(15);
    await share(ada, { updated: [owner('bob')], removed: [{ type: 'user', id: 'ada' }] });
    await share(root, { removed: [{ type: 'user', id: 'bob' }] });
    expect(bits(ada)).toBe(0);
  });

  test('of two owners who remove each other one remains', async () => {
    const { share, clock, store, ada, bob } = await createRig();
    await share(ada, { updated: [owner('bob')] });
    const both = Promise.allSettled([
      share(ada, { removed: [{ type: 'user', id: 'bob' }] }),
      share(bob, { removed: [{ type: 'user', id: 'ada' }] }),
    ]);
    await clock.advance(1_000);
    expect((await both).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await store.acl.listByServer('default', 's')).toHaveLength(1);
  });

  test('who does not exist in the tenant gets nothing, nor anybody else', async () => {
    const { share, store, ada } = await createRig();
    for (const unknown of [viewer('stranger'), viewer('nobody'), viewer('robots', 'role')]) {
      await expect(share(ada, { updated: [viewer('bob'), unknown] })).rejects.toMatchObject({
        code: 'REQUEST_INVALID',
        errors: [{ code: 'unknown_principal', message: `There is no ${unknown.type} ${unknown.id}.` }],
      });
    }
    const twice = { updated: [viewer('bob')], removed: [{ type: 'user' as const, id: 'bob' }] };
    await expect(share(ada, twice)).rejects.toMatchObject({ errors: [{ code: 'duplicate' }] });
    expect(await store.acl.listByServer('default', 's')).toHaveLength(1);
  });

  test('administrators share what the file closes, and it stays the file’s', async () => {
    const { share, sharing, bits, root, bob, eve } = await createRig();
    expect(await getServerSharing(sharing, root, 'file')).toEqual({
      ...{ principals: [], public: true, publicAccessRoleId: 'mcpServer_viewer' },
    });
    await expect(share(root, { public: false }, 'file')).rejects.toEqual(coded('MCP_SERVER_MANAGED'));
    await expect(share(bob, { public: true }, 'file')).rejects.toEqual(coded('MCP_ACL_FORBIDDEN'));
    expect([bits(bob, 'closed'), bits(eve, 'closed')]).toEqual([1, 0]);
    await share(root, { updated: [viewer('eve')] }, 'closed');
    expect(bits(eve, 'closed')).toBe(1);
    expect(await share(root, { public: true }, 'closed')).toMatchObject({ public: true });
  });

  test('people of the own tenant are found, by who may share', async () => {
    const { sharing, store, clock, ada, rename } = await createRig();
    const find = async (q: string, more: { limit?: number; types?: ('user' | 'group' | 'role')[] } = {}) =>
      (await searchPrincipals(sharing, { ...ada, groups: ['adastra'] }, { q, limit: 10, ...more })).map(
        ({ type, id }) => `${type}:${id}`,
      );
    expect(await find('AD')).toEqual(['user:ada', 'role:ADMIN', 'group:adastra']);
    expect(await find('ad', { types: ['role'] })).toEqual(['role:ADMIN']);
    expect(await find('example.com', { limit: 2 })).toHaveLength(2);
    expect(await find('stranger')).toEqual([]);
    await store.users.update('bob', { disabledAt: clock.now() }, clock.now());
    expect(await find('bob')).toEqual([]);
    const [eve] = await searchPrincipals(sharing, ada, { q: 'eve', limit: 1 });
    expect(Object.keys(eve ?? {}).sort()).toEqual(['email', 'id', 'name', 'source', 'type']);
    rename({ ADMIN: {}, USER: {} });
    await expect(find('ad')).rejects.toEqual(coded('MCP_FORBIDDEN'));
  });

  test('what is remembered of the rows decides nothing', async () => {
    const { share, store, ada } = await createRig({ changes: silentChanges });
    const [mine] = await store.acl.listByServer('default', 's');
    // Taken away elsewhere a moment ago, and nobody has told us yet.
    await store.acl.change({ put: [{ ...(mine as AclRecord), bits: 1 }], remove: [] });
    await expect(share(ada, { updated: [viewer('bob')] })).rejects.toEqual(coded('MCP_ACL_FORBIDDEN'));
    expect(await store.acl.list()).toHaveLength(1);
  });

  test('nor is anything shared while the store does not answer', async () => {
    const { share, goDown, store, ada } = await createRig();
    goDown();
    await expect(share(ada, { updated: [viewer('bob')] })).rejects.toThrow('down');
    expect(await store.acl.list()).toHaveLength(1);
  });

  test('a refusal is written down too', async () => {
    const { share, events, eve } = await createRig();
    await share(eve, { updated: [viewer('eve')] }).catch(() => undefined);
    expect(events).toMatchObject([
      { action: 'acl.change', outcome: 'refused', code: 'MCP_SERVER_NOT_FOUND' },
    ]);
  });
});

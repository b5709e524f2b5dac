import type { PrimaryStore, UserRecord } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { aRole, anAclRow } from './access.ts';
import { aSession, aUser, anApiKey } from './accounts.ts';
import { aSegment } from './audit.ts';
import { aBlock, aRun, aSet } from './blocks.ts';
import { aChatMessage, aConversation } from './conversations.ts';
import { aCredential } from '../records.ts';
import { aUsage, aVariable } from './credentials.ts';
import { anAuthorizationServerRecord } from './authorizationServer.ts';
import { anOAuthClient } from './oauthFlows.ts';
import { useStore, type OpenStore } from './useStore.ts';
import { aStoredServer, anOverride } from './servers.ts';

export function rawSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`RawCollections on ${label}`, () => {
    const store = useStore(open);

    test('every record is seen once, in key order, page by page', async () => {
      const ids = Array.from({ length: 25 }, (_, i) => `u${String(i).padStart(2, '0')}`);
      for (const id of [...ids].reverse()) await store().users.insert(aUser({ id, subject: id }));
      const seenIds: string[] = [];
      for (let after: string | null = null; ;) {
        const page: UserRecord[] = await store().raw.page('users', after, 10);
        if (page.length === 0) break;
        seenIds.push(...page.map((user) => user.id));
        after = page.at(-1)!.id;
      }
      expect(seenIds).toEqual(ids);
      expect(await store().raw.count('users')).toBe(25);
    });

    test('what is put is what the ports then find, and putting twice changes nothing', async () => {
      const user = aUser({ passwordSealed: 'v1.x' });
      const session = aSession({ hash: 'h', via: 'openid', groups: ['a'] });
      const ticket = { hash: 't', kind: 'setup' as const, createdAt: 1, expiresAt: 9e12, consumedAt: 5 };
      for (let i = 0; i < 2; i += 1) {
        await store().raw.put('users', [user]);
        await store().raw.put('sessions', [session]);
        await store().raw.put('tickets', [ticket, { ...ticket, hash: 't2', consumedAt: null }]);
        await store().raw.put('system', [{ name: 'key-check', value: 'v1.k' }]);
        await store().raw.put('variables', [aVariable()]);
        await store().raw.put('servers', [aStoredServer()]);
        await store().raw.put('overrides', [anOverride()]);
        await store().raw.put('roles', [aRole()]);
        await store().raw.put('acl', [anAclRow()]);
        await store().raw.put('apiKeys', [anApiKey()]);
        await store().raw.put('credentials', [aCredential()]);
        await store().raw.put('credentialUsage', [aUsage()]);
        await store().raw.put('oauthClients', [anOAuthClient()]);
        await store().raw.put('conversations', [aConversation()]);
        await store().raw.put('chatMessages', [aChatMessage()]);
        await store().raw.put('blocks', [aBlock()]);
        await store().raw.put('sets', [aSet()]);
        await store().raw.put('runs', [aRun()]);
        await store().raw.put('authorizationServer', [anAuthorizationServerRecord({ consumedAt: 5 })]);
        await store().raw.put('audit', [aSegment()]);
      }
      expect(await store().users.findById('u1')).toEqual(user);
      expect(await store().sessions.find('h', 0)).toEqual(session);
      expect(await store().tickets.isConsumable('setup', 't', 0)).toBe(false);
      expect(await store().tickets.isConsumable('setup', 't2', 0)).toBe(true);
      expect(await store().system.getOrCreateKeyCheck('other')).toBe('v1.k');
      expect(await store().raw.page('tickets', null, 10)).toEqual([
        ticket,
        { ...ticket, hash: 't2', consumedAt: null },
      ]);
      expect(await store().raw.page('system', null, 10)).toEqual([{ name: 'key-check', value: 'v1.k' }]);
      expect(await store().raw.count('tickets')).toBe(2);
      expect(await store().variables.list('default', 'u1', 's1')).toEqual([aVariable()]);
      expect(await store().raw.page('variables', null, 10)).toEqual([aVariable()]);
      expect(await store().servers.find('default', 's1')).toEqual(aStoredServer());
      expect(await store().raw.page('servers', null, 10)).toEqual([aStoredServer()]);
      expect(await store().raw.page('sessions', null, 10)).toEqual([session]);
      expect(await store().overrides.list()).toEqual([anOverride()]);
      expect(await store().raw.page('overrides', null, 10)).toEqual([anOverride()]);
      expect(await store().roles.list()).toEqual([aRole()]);
      expect(await store().raw.page('roles', null, 10)).toEqual([aRole()]);
      expect(await store().acl.list()).toEqual([anAclRow()]);
      expect(await store().raw.page('acl', null, 10)).toEqual([anAclRow()]);
      expect(await store().apiKeys.list('u1')).toEqual([anApiKey()]);
      expect(await store().raw.page('apiKeys', null, 10)).toEqual([anApiKey()]);
      expect(await store().credentials.find(aCredential())).toEqual(aCredential());
      expect(await store().raw.page('credentials', null, 10)).toEqual([aCredential()]);
      expect(await store().credentialUsage.find('c1')).toEqual(aUsage());
      expect(await store().raw.page('credentialUsage', null, 10)).toEqual([aUsage()]);
      expect(await store().oauthClients.find(anOAuthClient())).toEqual(anOAuthClient());
      expect(await store().raw.page('oauthClients', null, 10)).toEqual([anOAuthClient()]);
      expect(await store().conversations.find('default', 'u1', 'c1')).toEqual(aConversation());
      expect(await store().raw.page('conversations', null, 10)).toEqual([aConversation()]);
      expect(await store().conversations.listMessages('default', 'u1', 'c1')).toEqual([aChatMessage()]);
      expect(await store().raw.page('chatMessages', null, 10)).toEqual([aChatMessage()]);
      expect(await store().blocks.find('default', 'b1')).toEqual(aBlock());
      expect(await store().raw.page('blocks', null, 10)).toEqual([aBlock()]);
      expect(await store().sets.find('default', 'b1')).toEqual(aSet());
      expect(await store().raw.page('sets', null, 10)).toEqual([aSet()]);
      expect(await store().runs.find('default', 'u1', 'r1')).toEqual(aRun());
      expect(await store().raw.page('runs', null, 10)).toEqual([aRun()]);
      expect(await store().authorizationServer.find('Code:h1', 0)).toEqual(
        anAuthorizationServerRecord({ consumedAt: 5 }),
      );
      expect(await store().audit.page({}, 10)).toEqual([aSegment()]);
      expect(await store().raw.page('audit', null, 10)).toEqual([aSegment()]);
    });

    test('a sealed value is replaced where it still is what it was, and nothing else of its record', async () => {
      const credential = aCredential({ sealed: 'v1.a' });
      await store().raw.put('credentials', [credential, aCredential({ label: 'b', sealed: 'v1.b' })]);
      await store().raw.put('users', [aUser({ passwordSealed: 'v1.a' })]);
      const changed = (await store().credentials.replace(credential.id, { generation: 1 }, { reason: 'x' }))!;
      const after = await store().raw.reseal('credentials', [
        { key: credential.id, field: 'sealed', oldValue: 'v1.a', newValue: 'v1.anew' },
        { key: aCredential({ label: 'b' }).id, field: 'sealed', oldValue: 'v1.other', newValue: 'v1.lost' },
        { key: 'nobody', field: 'sealed', oldValue: 'v1.a', newValue: 'v1.anew' },
      ]);
      expect(after).toBe(1);
      expect(await store().raw.reseal('credentials', [])).toBe(0);
      expect(await store().credentials.findById(credential.id)).toEqual({ ...changed, sealed: 'v1.anew' });
      expect((await store().raw.page('credentials', null, 9)).map(({ sealed }) => sealed).sort()).toEqual([
        'v1.anew',
        'v1.b',
      ]);
      expect((await store().users.findById('u1'))?.passwordSealed).toBe('v1.a');
    });

    test('what is removed is gone, and nothing else', async () => {
      for (const id of ['u1', 'u2', 'u3']) await store().users.insert(aUser({ id, subject: id }));
      await store().raw.put('system', [{ name: 'u1', value: 'v' }]);
      for (let i = 0; i < 2; i += 1) await store().raw.remove('users', ['u1', 'u3', 'nobody']);
      await store().raw.remove('users', []);
      expect((await store().raw.page('users', null, 10)).map(({ id }) => id)).toEqual(['u2']);
      expect(await store().raw.count('system')).toBe(1);
    });
  });
}

import { oauthClientId, type OAuthClientRecord, type PrimaryStore } from '@behalf/gateway/ports';
import { describe, expect, test } from '@jest/globals';
import { useStore, type OpenStore } from './useStore.ts';

export function anOAuthClient(overrides: Partial<Omit<OAuthClientRecord, 'id'>> = {}): OAuthClientRecord {
  const record = {
    tenant: 'default',
    serverId: 's1',
    issuer: 'https://as.example.com',
    redirectUri: 'https://behalf.example.com/callback',
    clientId: 'registered',
    sealed: 'v1.sealed',
    createdAt: 1_000,
    expiresAt: null,
    ...overrides,
  };
  return { id: oauthClientId(record), ...record };
}

export function oauthClientsSuite(label: string, open: OpenStore<PrimaryStore>): void {
  describe(`OAuthClientStore on ${label}`, () => {
    const store = useStore(open);

    test('of 20 that register at once the first counts, and all of them are told so', async () => {
      const { oauthClients, raw } = store();
      const counted = await Promise.all(
        Array.from({ length: 20 }, (_, i) => oauthClients.insert(anOAuthClient({ clientId: `c${i}` }))),
      );
      expect(new Set(counted.map(({ clientId }) => clientId)).size).toBe(1);
      expect(await raw.page('oauthClients', null, 100)).toEqual([counted[0]]);
      expect(await oauthClients.find(anOAuthClient())).toEqual(counted[0]);
      for (const other of [
        { tenant: 'other' },
        { serverId: 's2' },
        { issuer: 'https://as.example.com/' },
        { redirectUri: 'https://other.example.com/callback' },
      ]) {
        expect(await oauthClients.find(anOAuthClient(other))).toBeNull();
      }
    });

    test('a registration takes the place of the one that was seen, and of no other', async () => {
      const { oauthClients } = store();
      const replacement = anOAuthClient({
        clientId: 'anew',
        sealed: 'v1.anew',
        createdAt: 2_000,
        expiresAt: 9_000,
      });
      expect(await oauthClients.replace(replacement, 'registered')).toBe(false);
      expect(await oauthClients.find(replacement)).toBeNull();
      await oauthClients.insert(anOAuthClient());
      const other = await oauthClients.insert(anOAuthClient({ serverId: 's2' }));
      expect(await oauthClients.replace(replacement, 'another')).toBe(false);
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          oauthClients.replace({ ...replacement, clientId: `anew${i}` }, 'registered'),
        ),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const stored = { ...replacement, clientId: `anew${outcomes.indexOf(true)}` };
      expect(await oauthClients.find(replacement)).toEqual(stored);
      expect(await oauthClients.find(other)).toEqual(other);
    });

    test('a registration is removed only as the one that was seen, or with its server', async () => {
      const { oauthClients } = store();
      const client = anOAuthClient({ expiresAt: 9_000 });
      expect(await oauthClients.insert(client)).toEqual(client);
      expect(await oauthClients.remove(client, 'another')).toBe(false);
      expect(await oauthClients.find(client)).toEqual(client);
      expect(await oauthClients.remove(client, 'registered')).toBe(true);
      expect(await oauthClients.remove(client, 'registered')).toBe(false);
      const replacement = anOAuthClient({ clientId: 'anew' });
      expect(await oauthClients.insert(replacement)).toEqual(replacement);
      const remaining = await oauthClients.insert(anOAuthClient({ tenant: 'other' }));
      await oauthClients.insert(anOAuthClient({ issuer: 'https://other.example.com' }));
      expect(await oauthClients.removeByServer('default', 's2')).toBe(0);
      expect(await oauthClients.removeByServer('default', 's1')).toBe(2);
      expect(await oauthClients.find(replacement)).toBeNull();
      expect(await oauthClients.find(remaining)).toEqual(remaining);
    });
  });
}

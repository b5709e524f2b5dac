import { describe, expect, test } from '@jest/globals';
import { createAdministrator } from './browser.ts';
import { connectClient, createAuthorizationClient, CLIENT_REDIRECT_URI } from './authorizationServerRig.ts';
import { startInProcess } from './inProcess.ts';

describe('clients that register themselves', () => {
  const start = (registration: object) =>
    startInProcess(
      { TRUST_PROXY: '1' },
      JSON.stringify({ authorizationServer: { enabled: true, registration } }),
    );
  const register = (url: string, address = '203.0.113.1') =>
    fetch(`${url}/as/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: JSON.stringify({ redirect_uris: [CLIENT_REDIRECT_URI] }),
    });

  /** So many, of which `given` come through at once; what comes back of that with each minute comes too. */
  async function flood(count: number, allowed: number, addressOf: (i: number) => string): Promise<void> {
    const gateway = await start({});
    try {
      const since = Date.now();
      const answers: Response[] = [];
      for (let sent = 0; sent < count; sent += 50) {
        const batch = Array.from({ length: 50 }, (_, i) => register(gateway.url, addressOf(sent + i)));
        answers.push(...(await Promise.all(batch)));
      }
      const most = allowed + Math.ceil((allowed * (Date.now() - since)) / 60_000);
      const statuses = answers.map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([201, 429]));
      expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(most);
      const refused = answers.find(({ status }) => status === 429);
      expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
      // Nobody else waits for it.
      expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    } finally {
      await gateway.close();
    }
  }

  test('a thousand in a minute are ten, and the rest wait', () => flood(1_000, 10, () => '203.0.113.1'));

  test('from however many networks they are a hundred', () => flood(250, 100, (i) => `198.51.100.${i}`));

  test('there are never more than the operator wants', async () => {
    const gateway = await start({ perMinute: 1_000, most: 3 });
    try {
      const ada = await createAdministrator(gateway);
      const authorizationClient = await createAuthorizationClient(gateway.url);
      const isKnown = async (clientId: string) =>
        (await ada.get(authorizationClient.createAuthorizationRequest(clientId).path)).status === 303;
      const used = await authorizationClient.register();
      const tokens = await connectClient(authorizationClient, ada, gateway.url, used);
      const clients = [];
      for (let i = 0; i < 5; i += 1) clients.push(await authorizationClient.register());
      // The oldest made room, but for the one that somebody uses.
      const known = [];
      for (const clientId of [used, ...clients]) known.push(await isKnown(clientId));
      expect(known).toEqual([true, false, false, false, true, true]);
      expect((await authorizationClient.refreshTokens(used, tokens.refresh_token)).status).toBe(200);
      // Where all are in use, there is no more room.
      for (const clientId of clients.slice(-2))
        await connectClient(authorizationClient, ada, gateway.url, clientId);
      const late = await register(gateway.url);
      expect([late.status, late.headers.get('retry-after')]).toEqual([429, '3600']);
      expect(await isKnown(used)).toBe(true);
    } finally {
      await gateway.close();
    }
  });

  test('where it is off, nobody does', async () => {
    const gateway = await start({ enabled: false });
    try {
      expect((await register(gateway.url)).status).toBe(404);
      const { metadata } = await createAuthorizationClient(gateway.url);
      expect(metadata).not.toHaveProperty('registration_endpoint');
    } finally {
      await gateway.close();
    }
  });
});

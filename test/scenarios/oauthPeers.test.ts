import { guardedMcpServer } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';
import { completeSignIn } from './completeSignIn.ts';
import { startV1OAuthServer } from './v1OAuthServer.ts';

const rig = createGatewayRig();

async function connect(who: TestUser, server: string): Promise<string> {
  const started = await who.post(`/api/mcp/${server}/oauth/start`, {});
  expect(started.status).toBe(201);
  return (await completeSignIn(rig.gateway.url, who, started)).pathname;
}

describe('servers of before', () => {
  test('one made with the first line of the SDK signs its users in', async () => {
    const v1 = await startV1OAuthServer();
    try {
      const [ada] = (await rig.start(
        renderYaml({ old: httpDefinition(v1.url, { requiresOAuth: true }) }),
      )) as [TestUser];
      expect(await connect(ada, 'old')).toBe('/oauth/success');
      expect((await ada.call('old', 'greet')).body).toMatchObject({
        isError: false,
        content: [{ text: 'Hello' }],
      });
      v1.revokeToken(v1.tokens.at(-1) ?? '');
      expect((await ada.call('old', 'greet')).body).toMatchObject({ isError: false });
      expect([v1.refreshCount, v1.tokens.length]).toEqual([1, 2]);
    } finally {
      await v1.close();
    }
  });

  test('one of revision 2025-03-26 does so where the operator allows it', async () => {
    const old = await guardedMcpServer({
      era: 'legacy',
      protocolVersion: '2025-03-26',
      tools: [{ name: 'echo' }],
      guard: { documents: 'none', challenge: 'none', checksAudience: false },
    });
    try {
      const allowed = httpDefinition(old.url, { requiresOAuth: true, oauth: { legacyAuthDiscovery: true } });
      const [ada] = (await rig.start(
        renderYaml({ allowed, plain: httpDefinition(old.url, { requiresOAuth: true }) }),
      )) as [TestUser];
      expect(await connect(ada, 'allowed')).toBe('/oauth/success');
      expect((await ada.call('allowed', 'echo')).body).toMatchObject({ isError: false });
      const refused = await ada.post('/api/mcp/plain/oauth/start', {});
      expect(refused.status).toBe(424);
      expect(await refused.json()).toMatchObject({ code: 'MCP_AUTHORIZATION_UNAVAILABLE' });
    } finally {
      await old.close();
    }
  });
});

import { guardedMcpServer } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { http, yamlWith } from './serverYaml.ts';
import { throughSignIn } from './throughSignIn.ts';
import { startV1OAuthServer } from './v1OAuthServer.ts';

const scene = createScene();

async function connect(who: Person, server: string): Promise<string> {
  const started = await who.post(`/api/mcp/${server}/oauth/start`, {});
  expect(started.status).toBe(201);
  return (await throughSignIn(scene.gateway.url, who, started)).pathname;
}

describe('servers of before', () => {
  test('one made with the first line of the SDK signs its users in', async () => {
    const v1 = await startV1OAuthServer();
    try {
      const [ada] = (await scene.begin(yamlWith({ old: http(v1.url, { requiresOAuth: true }) }))) as [Person];
      expect(await connect(ada, 'old')).toBe('/oauth/success');
      expect((await ada.call('old', 'greet')).body).toMatchObject({
        isError: false,
        content: [{ text: 'Hello' }],
      });
      v1.end(v1.tokens.at(-1) ?? '');
      expect((await ada.call('old', 'greet')).body).toMatchObject({ isError: false });
      expect([v1.refreshes, v1.tokens.length]).toEqual([1, 2]);
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
      const allowed = http(old.url, { requiresOAuth: true, oauth: { legacyAuthDiscovery: true } });
      const [ada] = (await scene.begin(
        yamlWith({ allowed, plain: http(old.url, { requiresOAuth: true }) }),
      )) as [Person];
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

import { createFakeClock, createTestNetwork } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createUserSnapshot } from '../../../test/servers.ts';
import { startTokenEndpoint, type TestTokenEndpoint } from '../../../test/tokenEndpoint.ts';
import { createResourceMetadata } from './resourceMetadata.ts';

const disposables: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of disposables.splice(0).reverse()) await close();
});

async function createRig(reply: TestTokenEndpoint['reply']) {
  const site = await startTokenEndpoint();
  site.reply = reply;
  const network = createTestNetwork([site.port]);
  disposables.push(
    () => site.close(),
    () => network.close(),
  );
  const clock = createFakeClock();
  const requests: (readonly string[])[] = [];
  const placeOf = createResourceMetadata({
    network: {
      fetchFor(_server, vouched) {
        requests.push(vouched);
        return network.fetchTo({ url: site.origin, audience: 'yaml-server' });
      },
      readError: () => undefined,
    },
    clock,
    timeoutMs: 5_000,
  });
  const server = createUserSnapshot({ url: `${site.origin}/mcp`, obo: { scopes: 'a' } });
  return { site, clock, requests, place: placeOf(server) };
}

const published = (overrides: object = {}) => ({
  authorization_servers: ['https://one.example', 'https://two.example'],
  ...overrides,
});

describe('a server as an exchange sees it', () => {
  test('names its authorization servers, and is asked once an hour', async () => {
    const { site, clock, requests, place } = await createRig((request) => ({
      body: published({ resource: `http://${String(request.headers.host)}/mcp` }),
    }));
    expect(place.url).toBe(`${site.origin}/mcp`);
    for (let times = 0; times < 3; times += 1) {
      expect(await place.authorizationServers()).toEqual(['https://one.example', 'https://two.example']);
    }
    expect(site.requests.map(({ path }) => path)).toEqual(['/.well-known/oauth-protected-resource/mcp']);
    // Its own place and no other is asked on the operator's word.
    expect(requests).toEqual([[site.origin]]);
    await clock.advance(61 * 60_000);
    await place.authorizationServers();
    expect(site.requests).toHaveLength(2);
  });

  test('is not believed in the name of another, and an outage passes', async () => {
    const other = await createRig(() => ({ body: published({ resource: 'https://other.example/mcp' }) }));
    await expect(other.place.authorizationServers()).rejects.toMatchObject({ code: 'OBO_MISCONFIGURED' });
    const away = await createRig(() => ({ status: 503 }));
    await expect(away.place.authorizationServers()).rejects.toMatchObject({ code: 'OBO_TEMPORARY' });
    const none = await createRig(() => ({ status: 404 }));
    expect(await none.place.authorizationServers()).toEqual([]);
  });
});

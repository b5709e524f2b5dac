import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDpopExchange, type DpopExchange } from './dpopExchange.ts';
import { createKeyClient, sendModern } from './mcpClient.ts';
import { startOpenIdGateway, type OpenIdGateway } from './openIdGateway.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const eras = ['legacy', 'modern'] as const;
const users = ['ada', 'bob'];

describe('exchanged tokens that are bound to a key', () => {
  let exchange: DpopExchange;
  let servers: ScriptedHttpServer[];
  let gateway: OpenIdGateway;

  beforeAll(async () => {
    exchange = await startDpopExchange();
    servers = await Promise.all(
      eras.map(async (era) => {
        const server = await scriptedHttpServer({ era, tools: [{ name: 'echo' }] });
        server.change({ respond: (request) => exchange.guard(request, server.url) });
        return server;
      }),
    );
    const obo = { provider: 'bound', scopes: 'files' };
    const { tokenEndpoint } = exchange;
    const targets = [{ scopes: ['files'], origins: servers.map(({ url }) => new URL(url).origin) }];
    gateway = await startOpenIdGateway({
      users: users.map((id) => ({ id, email: `${id}@example.com`, name: id })),
      yaml: renderYaml(
        Object.fromEntries(eras.map((era, index) => [era, httpDefinition(servers[index]!.url, { obo })])),
        {
          identityProviders: {
            bound: {
              ...{ type: 'token-exchange', tokenEndpoint, dpop: 'require', targets },
              ...{ clientId: 'behalf', clientSecret: 'secret-at-the-exchange' },
            },
          },
        },
      ),
    });
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    for (const server of servers) await server.close();
    await exchange.close();
  });

  test('every request of the server’s conversation is proven, by its user’s key', async () => {
    for (const user of users) {
      const own = gateway.idp.tokens.mint({ user, client: 'behalf' });
      for (const era of eras) {
        const params = { name: `${era}__echo`, arguments: { by: user } };
        const { message } = await sendModern(createKeyClient(own, gateway.url), 'tools/call', params);
        expect([user, era, message.error]).toEqual([user, era, undefined]);
        expect(JSON.stringify(message.result)).toContain(`\\"by\\":\\"${user}\\"`);
      }
      expect(JSON.stringify(servers.map(({ requests }) => requests))).not.toContain(own);
    }
    const calls = exchange.verifiedRequests.filter(({ method }) => method === 'tools/call');
    expect(calls.map(({ subject }) => subject)).toEqual(['ada', 'ada', 'bob', 'bob']);
    // A key of each user at each server.
    expect(new Set(calls.map(({ jkt }) => jkt)).size).toBe(4);
    expect(exchange.verifiedRequests.map(({ method }) => method)).toEqual(
      expect.arrayContaining(['initialize', 'server/discover', 'tools/list']),
    );
  });

  test('a token that somebody else got hold of opens nothing', async () => {
    expect(exchange.issuedTokens.size).toBeGreaterThan(0);
    for (const token of exchange.issuedTokens.keys()) {
      for (const { url } of servers) {
        for (const scheme of ['Bearer', 'DPoP']) {
          const headers = { authorization: `${scheme} ${token}`, 'content-type': 'application/json' };
          const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
          expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(401);
        }
      }
    }
  });
});

import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { sendModern, createWireClient } from './mcpClient.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const KINDS = ['prompts/list', 'resources/list', 'resources/templates/list'] as const;

describe('lists of a server that everybody shares', () => {
  const rig = createGatewayRig();

  test('are fetched once for users who ask at the same time, and after', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const said = { ttlMs: 60_000, cacheScope: 'public' };
      const upstream = await rig.startServer({
        ...{ era, tools: [{ name: 'echo' }] },
        capabilities: { tools: {}, prompts: {}, resources: {} },
        methods: {
          'prompts/list': () => held.then(() => ({ prompts: [{ name: 'greet' }], ...said })),
          'resources/list': () => held.then(() => ({ resources: [{ uri: 'x:1', name: 'one' }], ...said })),
          'resources/templates/list': () =>
            held.then(() => ({ resourceTemplates: [{ uriTemplate: 'x:{a}', name: 't' }], ...said })),
        },
      });
      const users = await rig.start(renderYaml({ files: httpDefinition(upstream.url) }), [
        'Ada',
        'Bob',
        'Cleo',
      ]);
      const clients = await Promise.all(users.map((user) => createWireClient(user, rig.gateway.url)));
      const countRequests = () => KINDS.map((method) => upstream.received(method).length);
      const ask = () =>
        Promise.all(clients.flatMap((client) => KINDS.map((method) => sendModern(client, method))));
      const cold = ask();
      await eventually('all kinds are asked for', () => countRequests().every((count) => count > 0));
      release();
      for (const { message } of await cold) expect(message.result).toMatchObject({ cacheScope: 'private' });
      await ask();
      expect([era, countRequests()]).toEqual([era, [1, 1, 1]]);
    }
  });
});

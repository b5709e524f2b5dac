import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { modernRequest, wireClient } from './mcpClient.ts';
import { createScene } from './scene.ts';
import { http, yamlWith } from './serverYaml.ts';

const KINDS = ['prompts/list', 'resources/list', 'resources/templates/list'] as const;

describe('lists of a server that everybody shares', () => {
  const scene = createScene();

  test('are fetched once for users who ask at the same time, and after', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const said = { ttlMs: 60_000, cacheScope: 'public' };
      const upstream = await scene.serve({
        ...{ era, tools: [{ name: 'echo' }] },
        capabilities: { tools: {}, prompts: {}, resources: {} },
        methods: {
          'prompts/list': () => held.then(() => ({ prompts: [{ name: 'greet' }], ...said })),
          'resources/list': () => held.then(() => ({ resources: [{ uri: 'x:1', name: 'one' }], ...said })),
          'resources/templates/list': () =>
            held.then(() => ({ resourceTemplates: [{ uriTemplate: 'x:{a}', name: 't' }], ...said })),
        },
      });
      const people = await scene.begin(yamlWith({ files: http(upstream.url) }), ['Ada', 'Bob', 'Cleo']);
      const clients = await Promise.all(people.map((person) => wireClient(person, scene.gateway.url)));
      const asked = () => KINDS.map((method) => upstream.received(method).length);
      const ask = () =>
        Promise.all(clients.flatMap((client) => KINDS.map((method) => modernRequest(client, method))));
      const cold = ask();
      await eventually('all kinds are asked for', () => asked().every((count) => count > 0));
      release();
      for (const { answer } of await cold) expect(answer.result).toMatchObject({ cacheScope: 'private' });
      await ask();
      expect([era, asked()]).toEqual([era, [1, 1, 1]]);
    }
  });
});

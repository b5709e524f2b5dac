import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { legacyClient, modernRequest, wireClient } from './mcpClient.ts';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { http, yamlWith } from './serverYaml.ts';

const MOST = 64;

describe('requests that one user has under way at the MCP endpoint', () => {
  const scene = createScene();

  for (const era of ['modern', 'legacy'] as const) {
    test(`by clients of the ${era} era, and no more at any door`, async () => {
      const waiting: (() => void)[] = [];
      const upstream = await scene.serve({
        era: 'legacy',
        tools: [
          { name: 'echo' },
          {
            name: 'slow',
            handler: () =>
              new Promise((resolve) => {
                waiting.push(() => resolve({ content: [] }));
              }),
          },
        ],
      });
      const [ada, bob] = (await scene.begin(yamlWith({ files: http(upstream.url) }), ['Ada', 'Bob'])) as [
        Person,
        Person,
      ];
      const client = await wireClient(ada, scene.gateway.url);
      const legacy = await legacyClient(client);
      const ask = (method: string, params: object = {}) =>
        era === 'modern'
          ? modernRequest(client, method, { ...params })
          : legacy.request(method, { ...params });
      expect((await ask('tools/list')).answer.error).toBeUndefined();
      const calls = Array.from({ length: MOST }, () => ask('tools/call', { name: 'files__slow' }));
      await eventually('all of them are at it', () => waiting.length === MOST);

      const limited = { code: -31_429, data: { code: 'MCP_RATE_LIMITED', retryAfterMs: 1_000 } };
      const quick = { name: 'files__echo' };
      // Of both eras, of every method: they are one user's.
      for (const refused of [
        await modernRequest(client, 'tools/call', quick),
        await legacy.request('tools/call', quick),
        await modernRequest(client, 'tools/list'),
        await legacy.request('ping'),
      ])
        expect(refused).toMatchObject({ status: 200, answer: { error: limited } });
      expect(await ada.call('files', 'echo')).toMatchObject({
        status: 429,
        body: { code: 'MCP_RATE_LIMITED' },
      });
      const others = await wireClient(bob, scene.gateway.url);
      expect((await modernRequest(others, 'tools/call', quick)).answer.result).toBeDefined();
      expect(upstream.received('tools/call')).toHaveLength(MOST + 1);

      // Whatever has ended makes room, however it ended.
      waiting.shift()?.();
      const room = () =>
        eventually('there is room', async () => !(await ask('tools/call', quick)).answer.error);
      await room();
      for (const end of waiting) end();
      for (const { answer } of await Promise.all(calls)) expect(answer.result).toBeDefined();
      await room();
    });
  }

  test('who leaves makes room, where leaving cancels', async () => {
    let begun = 0;
    const upstream = await scene.serve({
      era: 'legacy',
      tools: [
        { name: 'echo' },
        {
          name: 'slow',
          handler: () => {
            begun += 1;
            return new Promise(() => undefined);
          },
        },
      ],
    });
    const [ada] = (await scene.begin(yamlWith({ files: http(upstream.url) }))) as [Person];
    const client = await wireClient(ada, scene.gateway.url);
    const leaving = new AbortController();
    const init = { signal: leaving.signal };
    const calls = Array.from({ length: MOST }, () =>
      modernRequest(client, 'tools/call', { name: 'files__slow' }, { init }).catch(() => 'left'),
    );
    await eventually('all of them are at it', () => begun === MOST);
    const again = () => modernRequest(client, 'tools/call', { name: 'files__echo' });
    expect((await again()).answer.error?.code).toBe(-31_429);
    leaving.abort();
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['left']));
    await eventually('there is room', async () => !(await again()).answer.error);
  });
});

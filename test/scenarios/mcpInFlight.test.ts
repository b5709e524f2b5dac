import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createLegacyClient, sendModern, createWireClient } from './mcpClient.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const MOST = 64;

describe('requests that one user has under way at the MCP endpoint', () => {
  const rig = createGatewayRig();

  for (const era of ['modern', 'legacy'] as const) {
    test(`by clients of the ${era} era, and no more at any door`, async () => {
      const waiting: (() => void)[] = [];
      const upstream = await rig.startServer({
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
      const [ada, bob] = (await rig.start(renderYaml({ files: httpDefinition(upstream.url) }), [
        'Ada',
        'Bob',
      ])) as [TestUser, TestUser];
      const client = await createWireClient(ada, rig.gateway.url);
      const legacy = await createLegacyClient(client);
      const ask = (method: string, params: object = {}) =>
        era === 'modern' ? sendModern(client, method, { ...params }) : legacy.request(method, { ...params });
      expect((await ask('tools/list')).message.error).toBeUndefined();
      const calls = Array.from({ length: MOST }, () => ask('tools/call', { name: 'files__slow' }));
      await eventually('all of them are at it', () => waiting.length === MOST);

      const limited = { code: -31_429, data: { code: 'MCP_RATE_LIMITED', retryAfterMs: 1_000 } };
      const quick = { name: 'files__echo' };
      // Of both eras, of every method: they are one user's.
      for (const refused of [
        await sendModern(client, 'tools/call', quick),
        await legacy.request('tools/call', quick),
        await sendModern(client, 'tools/list'),
        await legacy.request('ping'),
      ])
        expect(refused).toMatchObject({ status: 200, message: { error: limited } });
      expect(await ada.call('files', 'echo')).toMatchObject({
        status: 429,
        body: { code: 'MCP_RATE_LIMITED' },
      });
      const others = await createWireClient(bob, rig.gateway.url);
      expect((await sendModern(others, 'tools/call', quick)).message.result).toBeDefined();
      expect(upstream.received('tools/call')).toHaveLength(MOST + 1);

      // Whatever has ended makes room, however it ended.
      waiting.shift()?.();
      const room = () =>
        eventually('there is room', async () => !(await ask('tools/call', quick)).message.error);
      await room();
      for (const end of waiting) end();
      for (const { message } of await Promise.all(calls)) expect(message.result).toBeDefined();
      await room();
    });
  }

  test('who leaves makes room, where leaving cancels', async () => {
    let startedCount = 0;
    const upstream = await rig.startServer({
      era: 'legacy',
      tools: [
        { name: 'echo' },
        {
          name: 'slow',
          handler: () => {
            startedCount += 1;
            return new Promise(() => undefined);
          },
        },
      ],
    });
    const [ada] = (await rig.start(renderYaml({ files: httpDefinition(upstream.url) }))) as [TestUser];
    const client = await createWireClient(ada, rig.gateway.url);
    const abortController = new AbortController();
    const init = { signal: abortController.signal };
    const calls = Array.from({ length: MOST }, () =>
      sendModern(client, 'tools/call', { name: 'files__slow' }, { init }).catch(() => 'left'),
    );
    await eventually('all of them are at it', () => startedCount === MOST);
    const again = () => sendModern(client, 'tools/call', { name: 'files__echo' });
    expect((await again()).message.error?.code).toBe(-31_429);
    abortController.abort();
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['left']));
    await eventually('there is room', async () => !(await again()).message.error);
  });
});

import { describe, expect, test } from '@jest/globals';
import { ownServer, settingsWith } from './endpointScene.ts';
import { legacyClient, modernRequest, wireClient } from './mcpClient.ts';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { http } from './serverYaml.ts';

const trace = {
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  tracestate: 'a=b',
  baggage: 'k=v',
};
const between = { traceparent: '00-11111111111111111111111111111111-2222222222222222-01', tracestate: 'x=y' };

describe('the trace of a request at the MCP endpoint', () => {
  const scene = createScene();

  for (const era of ['legacy', 'modern'] as const) {
    test(`what the message says goes on, to a ${era} server`, async () => {
      const upstream = await scene.serve({ era, tools: [{ name: 'echo' }] });
      const [ada] = (await scene.begin(settingsWith({ files: http(upstream.url) }, undefined))) as [Person];
      const client = await wireClient(ada, scene.gateway.url);
      const legacy = await legacyClient(client);
      const heard = () => {
        const { headers = {}, message } = upstream.received('tools/call').at(-1) ?? {};
        return { headers, meta: (message?.params?.['_meta'] ?? {}) as Record<string, unknown> };
      };
      const name = 'files__echo';
      for (const [who, call] of [
        [
          'modern',
          (meta: object, headers = {}) =>
            modernRequest(client, 'tools/call', { name }, { meta: { ...meta }, headers }),
        ],
        ['legacy', (meta: object) => legacy.request('tools/call', { name, _meta: meta })],
      ] as const) {
        expect([who, (await call(trace)).answer.error]).toEqual([who, undefined]);
        expect(heard().headers).toMatchObject(trace);
        expect(heard().meta).toMatchObject(trace);
        await call({ traceparent: 'nonsense', tracestate: 'a=b' });
        for (const said of [heard().headers, heard().meta]) {
          expect(said).not.toHaveProperty('traceparent');
          expect(said).not.toHaveProperty('tracestate');
        }
      }
      // What stands between may have put its own into the headers: the message's own comes first.
      await modernRequest(client, 'tools/call', { name }, { meta: trace, headers: between });
      expect(heard().headers).toMatchObject(trace);
      await modernRequest(client, 'tools/call', { name }, { headers: between });
      expect(heard().headers).toMatchObject(between);
      expect(heard().meta).toMatchObject(between);
    });
  }

  test('baggage goes to servers of the operator alone', async () => {
    const upstream = await scene.serve({ era: 'legacy', tools: [{ name: 'echo' }] });
    const [ada] = (await scene.begin(settingsWith({}, undefined, [upstream]))) as [Person];
    const { serverName } = await ownServer(ada, upstream, 'Mine');
    const client = await wireClient(ada, scene.gateway.url, `/mcp/${serverName}`);
    const { answer } = await modernRequest(client, 'tools/call', { name: 'echo' }, { meta: trace });
    expect(answer.error).toBeUndefined();
    const { headers, message } = upstream.received('tools/call').at(-1) ?? {};
    const { baggage: _, ...rest } = trace;
    for (const said of [headers, message?.params?.['_meta']]) {
      expect(said).toMatchObject(rest);
      expect(said).not.toHaveProperty('baggage');
    }
  });
});

import { describe, expect, test } from '@jest/globals';
import { createUserServer, createEndpointSettings } from './endpointRig.ts';
import { createLegacyClient, sendModern, createWireClient } from './mcpClient.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition } from './serverYaml.ts';

const trace = {
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  tracestate: 'a=b',
  baggage: 'k=v',
};
const between = { traceparent: '00-11111111111111111111111111111111-2222222222222222-01', tracestate: 'x=y' };

describe('the trace of a request at the MCP endpoint', () => {
  const rig = createGatewayRig();

  for (const era of ['legacy', 'modern'] as const) {
    test(`what the message says goes on, to a ${era} server`, async () => {
      const upstream = await rig.startServer({ era, tools: [{ name: 'echo' }] });
      const [ada] = (await rig.start(
        createEndpointSettings({ files: httpDefinition(upstream.url) }, undefined),
      )) as [TestUser];
      const client = await createWireClient(ada, rig.gateway.url);
      const legacy = await createLegacyClient(client);
      const readReceived = () => {
        const { headers = {}, message } = upstream.received('tools/call').at(-1) ?? {};
        return { headers, meta: (message?.params?.['_meta'] ?? {}) as Record<string, unknown> };
      };
      const name = 'files__echo';
      for (const [who, call] of [
        [
          'modern',
          (meta: object, headers = {}) =>
            sendModern(client, 'tools/call', { name }, { meta: { ...meta }, headers }),
        ],
        ['legacy', (meta: object) => legacy.request('tools/call', { name, _meta: meta })],
      ] as const) {
        expect([who, (await call(trace)).message.error]).toEqual([who, undefined]);
        expect(readReceived().headers).toMatchObject(trace);
        expect(readReceived().meta).toMatchObject(trace);
        await call({ traceparent: 'nonsense', tracestate: 'a=b' });
        for (const said of [readReceived().headers, readReceived().meta]) {
          expect(said).not.toHaveProperty('traceparent');
          expect(said).not.toHaveProperty('tracestate');
        }
      }
      // What stands between may have put its own into the headers: the message's own comes first.
      await sendModern(client, 'tools/call', { name }, { meta: trace, headers: between });
      expect(readReceived().headers).toMatchObject(trace);
      await sendModern(client, 'tools/call', { name }, { headers: between });
      expect(readReceived().headers).toMatchObject(between);
      expect(readReceived().meta).toMatchObject(between);
    });
  }

  test('baggage goes to servers of the operator alone', async () => {
    const upstream = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    const [ada] = (await rig.start(createEndpointSettings({}, undefined, [upstream]))) as [TestUser];
    const { serverName } = await createUserServer(ada, upstream, 'Mine');
    const client = await createWireClient(ada, rig.gateway.url, `/mcp/${serverName}`);
    const { message: answer } = await sendModern(client, 'tools/call', { name: 'echo' }, { meta: trace });
    expect(answer.error).toBeUndefined();
    const { headers, message } = upstream.received('tools/call').at(-1) ?? {};
    const { baggage: _, ...rest } = trace;
    for (const said of [headers, message?.params?.['_meta']]) {
      expect(said).toMatchObject(rest);
      expect(said).not.toHaveProperty('baggage');
    }
  });
});

import { scriptedError } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createLegacyClient, sendModern, createWireClient, type WireResponse } from './mcpClient.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const NOT_FOUND = -32_601;
const INTERNAL = -32_603;

/** What came: the status, the number, and the code of ours beside it. */
const summarizeError = ({ status, message: { error } }: WireResponse) => [
  status,
  error?.code,
  error?.data?.['code'],
];

describe('errors of servers, at the MCP endpoint', () => {
  const rig = createGatewayRig();

  async function clients(path: string, [ada]: TestUser[]) {
    const client = await createWireClient(ada as TestUser, rig.gateway.url, path);
    return { client, legacy: await createLegacyClient(client) };
  }

  test('by the status too, where there is one', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const upstream = await rig.startServer({ era, tools: [{ name: 'echo' }] });
      const users = await rig.start(renderYaml({ files: httpDefinition(upstream.url) }));
      const { client, legacy } = await clients('/mcp/files', users);
      for (const [method, params] of [
        ['prompts/get', { name: 'greet' }],
        ['resources/read', { uri: 'x:1' }],
      ] as const) {
        const code = 'MCP_METHOD_NOT_FOUND';
        expect([era, method, ...summarizeError(await sendModern(client, method, params))]).toEqual([
          ...[era, method, 404, NOT_FOUND, code],
        ]);
        expect([era, method, ...summarizeError(await legacy.request(method, params))]).toEqual([
          ...[era, method, 200, NOT_FOUND, code],
        ]);
        // The endpoint of all servers has the method: what is missing is missing at this one.
        const all = await clients('/mcp', users);
        const address = { uri: 'behalf:files/x:1' };
        expect(summarizeError(await sendModern(all.client, 'resources/read', address))).toEqual([
          200,
          -31_404,
          code,
        ]);
      }
    }
  });

  test('not for a tool: whoever lists tools has calls', async () => {
    const upstream = await rig.startServer({
      era: 'legacy',
      tools: [
        {
          name: 'echo',
          handler: () => {
            throw scriptedError(NOT_FOUND, 'Unknown tool');
          },
        },
      ],
    });
    const users = await rig.start(renderYaml({ files: httpDefinition(upstream.url) }));
    const { client, legacy } = await clients('/mcp/files', users);
    for (const answer of [
      await sendModern(client, 'tools/call', { name: 'echo' }),
      await legacy.request('tools/call', { name: 'echo' }),
    ])
      expect(summarizeError(answer)).toEqual([200, -31_502, 'MCP_PROTOCOL_ERROR']);
  });

  test('an error of the gateway, in both eras', async () => {
    for (const code of [-32_020, -32_022]) {
      const refuse = () => {
        throw scriptedError(code, 'planted words', { supported: ['2026-07-28'], planted: true }, 400);
      };
      const upstream = await rig.startServer({
        era: 'modern',
        capabilities: { tools: {}, resources: {}, prompts: {} },
        tools: [{ name: 'echo', handler: refuse }],
        methods: { 'resources/read': refuse, 'prompts/get': refuse },
      });
      const users = await rig.start(renderYaml({ files: httpDefinition(upstream.url) }));
      const { client, legacy } = await clients('/mcp/files', users);
      for (const [method, params] of [
        ['tools/call', { name: 'echo' }],
        ['prompts/get', { name: 'greet' }],
        ['resources/read', { uri: 'x:1' }],
      ] as const) {
        for (const answer of [
          await sendModern(client, method, params),
          await legacy.request(method, params),
        ]) {
          expect([method, ...summarizeError(answer)]).toEqual([method, 200, INTERNAL, 'MCP_FORM_REFUSED']);
          expect(JSON.stringify(answer)).not.toContain('planted');
        }
      }
    }
  });
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestNetwork, type TestNetwork } from '@behalf/testkit';
import {
  Client,
  ProtocolError,
  StreamableHTTPClientTransport,
  type RequestMethod,
} from '@modelcontextprotocol/client';
import { requestOptions, createHttpWiring } from '../../../test/httpRig.ts';
import { startEverythingHttp, startV1, startV2, type RunningServer } from '../../../test/mcpServers.ts';
import type { JsonObject, Upstream } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';

type Case = readonly [what: string, method: string, params: JsonObject];

const call = (name: string, args: JsonObject = {}): Case => [name, 'tools/call', { name, arguments: args }];

const ours: readonly Case[] = [
  ...['text', 'image', 'audio', 'link', 'embedded', 'failed', 'throws'].map((name) => call(name)),
  call('structured', { a: 2, b: 3 }),
  ['wrong arguments', 'tools/call', { name: 'structured', arguments: { a: 'x' } }],
  ['unknown tool', 'tools/call', { name: 'nothing', arguments: {} }],
  ['tools', 'tools/list', {}],
  ['resources', 'resources/list', {}],
  ['templates', 'resources/templates/list', {}],
  ['resource', 'resources/read', { uri: 'note://one' }],
  ['resource of a template', 'resources/read', { uri: 'note://any/7' }],
  ['unknown resource', 'resources/read', { uri: 'note://none' }],
  ['prompts', 'prompts/list', {}],
  ['prompt', 'prompts/get', { name: 'greet', arguments: { name: 'Ada' } }],
  ['unknown prompt', 'prompts/get', { name: 'nothing' }],
  [
    'completion',
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: 'a' } },
  ],
  ['no parameters', 'tools/call', {}],
];
const legacyOnly: readonly Case[] = [['ping', 'ping', {}]];
const reference: readonly Case[] = [
  call('echo', { message: 'grüße' }),
  call('get-sum', { a: 2, b: 3 }),
  call('get-tiny-image'),
  call('get-annotated-message', { messageType: 'error', includeImage: true }),
  call('get-structured-content', { location: 'New York' }),
  call('get-resource-reference', { resourceType: 'Text', resourceId: 1 }),
  call('nothing'),
  ['tools', 'tools/list', {}],
  ['resources', 'resources/list', {}],
  ['templates', 'resources/templates/list', {}],
  ['prompts', 'prompts/list', {}],
  ['prompt', 'prompts/get', { name: 'simple-prompt' }],
  [
    'completion',
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'completable-prompt' }, argument: { name: 'department', value: 'E' } },
  ],
  ...legacyOnly,
];

const peers: readonly [string, () => Promise<RunningServer>, 'legacy' | 'modern', readonly Case[]][] = [
  ['the reference server', startEverythingHttp, 'legacy', reference],
  ['a server on the first SDK, JSON', () => startV1('json'), 'legacy', [...ours, ...legacyOnly]],
  ['a server on the first SDK, event streams', () => startV1('sse'), 'legacy', [...ours, ...legacyOnly]],
  ['a server on the second SDK, legacy', startV2, 'legacy', [...ours, ...legacyOnly]],
  ['a server on the second SDK, modern', startV2, 'modern', ours],
];

describe.each(peers)('%s', (_name, start, era, cases) => {
  let server: RunningServer;
  let network: TestNetwork;
  let upstream: Upstream;
  let client: Client;
  beforeAll(async () => {
    server = await start();
    network = createTestNetwork([server.port]);
    const rig = createHttpWiring(server.url, network);
    upstream = await rig.open({ era: era === 'legacy' ? 'legacy' : 'auto' });
    client = new Client(
      { name: 'behalf', version: '0.0.0-test' },
      {
        // The reference server offers some tools only to who can be asked.
        capabilities: era === 'legacy' ? { elicitation: { form: {}, url: {} } } : {},
        versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
      },
    );
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server.url), { fetch: network.fetchTo(rig.target) }),
    );
  }, 30_000);
  afterAll(async () => {
    await client.close();
    await upstream.close();
    await network.close();
    await server.close();
  });

  test('both paths hear the same about the server', () => {
    expect(upstream.claims).toEqual({
      era,
      protocolVersion: client.getNegotiatedProtocolVersion(),
      name: client.getServerVersion()!.name,
      version: client.getServerVersion()!.version,
      instructions: client.getInstructions(),
      capabilities: client.getServerCapabilities(),
    });
  });

  for (const [what, method, params] of cases) {
    test(`${method} (${what}) is the same on both paths`, async () => {
      const mine = await upstream.request(method, params, requestOptions()).then(
        ({ result, json }) => {
          if (json !== undefined) expect(JSON.parse(json)).toEqual(result);
          return { result: withoutEnvelope(result) };
        },
        (error: unknown) => ({ error: rpcOf(error) }),
      );
      const theirs = await client.request({ method: method as RequestMethod, params }).then(
        (result) => ({ result: withoutEnvelope(result as JsonObject) }),
        (error: unknown) => ({ error: rpcOf(error) }),
      );
      expect(timeless(mine)).toEqual(timeless(theirs));
    });
  }
});

describe('a server that starts anew', () => {
  test('is found again, whether it says 404 or 400', async () => {
    for (const start of [() => startV1('json'), startEverythingHttp]) {
      const server = await start();
      const network = createTestNetwork([server.port]);
      const upstream = await createHttpWiring(server.url, network).open();
      const ask = () => upstream.request('tools/list', {}, requestOptions());
      const before = await ask();
      await server.dropSessions();
      expect((await ask()).result).toEqual(before.result);
      await upstream.close();
      await network.close();
      await server.close();
    }
  }, 30_000);
});

/** The SDK takes off what a modern result says of its own kind. */
function withoutEnvelope({ resultType: _, ...result }: JsonObject): JsonObject {
  return result;
}

function rpcOf(error: unknown): unknown {
  if (error instanceof UpstreamError && error.detail.rpc) return error.detail.rpc;
  if (error instanceof ProtocolError) {
    const { code, message, data } = error;
    return { code, message, ...(data !== undefined && { data }) };
  }
  throw error;
}

/** The reference server writes the time of day into a text, and the two questions may be asked in two seconds. */
function timeless(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/\d{1,2}:\d{2}:\d{2} [AP]M/g, 'now'));
}

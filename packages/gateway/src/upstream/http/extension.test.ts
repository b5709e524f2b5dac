import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually, type ScriptedRequest } from '@behalf/testkit';
import { createCountingBearer } from '../../../test/bearerRig.ts';
import { callHttpTool, createHttpRig, stopHttpRigs } from '../../../test/httpRig.ts';

afterEach(stopHttpRigs);

const EXTENSION = 'io.modelcontextprotocol/enterprise-managed-authorization';
const declared = { extensions: { [EXTENSION]: {} } };
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const tools = [{ name: 'echo' }];
const capabilities = { tools: { listChanged: true } };

/** What each request says that its sender can do; undefined where it does not say. */
function said({ message }: ScriptedRequest): [string, unknown] | [] {
  const params = message?.params as { capabilities?: unknown; _meta?: Record<string, unknown> } | undefined;
  if (message?.method === undefined) return [];
  return [message.method, params?.capabilities ?? params?._meta?.[CAPABILITIES]];
}

describe('the extension by which a token is had', () => {
  const bearer = Object.assign(createCountingBearer('t'), { extension: EXTENSION });

  test('is declared with each request of the modern era', async () => {
    const { server, open } = await createHttpRig({ era: 'modern', tools, capabilities });
    const upstream = await open({}, { bearer });
    await callHttpTool(upstream, 'echo', {}, { bearer });
    upstream.listen(() => undefined, { bearer });
    await eventually('it listens', () => server.openStreams === 1);
    expect(server.requests.map(said)).toEqual([
      ['server/discover', declared],
      ['tools/call', declared],
      ['subscriptions/listen', declared],
    ]);
  });

  test('is declared when a legacy session begins', async () => {
    const { server, open } = await createHttpRig({ era: 'legacy', tools });
    await open({}, { bearer });
    expect(server.requests.map(said)).toContainEqual(['initialize', expect.objectContaining(declared)]);
  });

  for (const era of ['modern', 'legacy'] as const) {
    test(`is nobody else’s to declare (${era})`, async () => {
      const { server, open } = await createHttpRig({ era, tools });
      const other = createCountingBearer('t');
      const upstream = await open({}, { bearer: other });
      // Of a connection that was opened by one who has it, too.
      await callHttpTool(upstream, 'echo', {}, { bearer: other });
      expect(JSON.stringify(server.requests.map(said))).not.toContain(EXTENSION);
    });
  }
});

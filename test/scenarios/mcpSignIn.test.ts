import { describe, expect, test } from '@jest/globals';
import { createEndpointSettings } from './endpointRig.ts';
import { createLegacyClient, sendModern, createWireClient } from './mcpClient.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition } from './serverYaml.ts';

const url = { elicitation: { url: {} } };

interface SignInError {
  'behalf/auth': { connectUrl: string };
}

describe('a server that its user must connect first', () => {
  const rig = createGatewayRig();

  async function begin() {
    const upstream = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    const servers = { signed: httpDefinition(upstream.url, { requiresOAuth: true }) };
    const [ada, bob] = (await rig.start(
      createEndpointSettings(servers, { names: 'priority', priority: ['signed'] }),
      ['Ada', 'Bob'],
    )) as [TestUser, TestUser];
    const page = new URL('/servers/signed', rig.gateway.url).pathname;
    return { ada, bob, page, upstream, client: await createWireClient(ada, rig.gateway.url) };
  }

  const call = { name: 'signed__echo' };

  test('a page to open, and the same call again', async () => {
    const { client, bob, page } = await begin();
    const ask = (params: object = {}, by = client) =>
      sendModern(by, 'tools/call', { ...call, ...params }, { capabilities: url });
    let params: object = {};
    for (let times = 1; times <= 3; times += 1) {
      const { result = {} } = (await ask(params)).message;
      const { connect } = result['inputRequests'] as { connect: { params: { url: string } } };
      expect([times, result['resultType'], connect]).toMatchObject([
        times,
        'input_required',
        { method: 'elicitation/create', params: { mode: 'url' } },
      ]);
      expect(new URL(connect.params.url).pathname).toBe(page);
      expect(connect.params).not.toHaveProperty('elicitationId');
      params = { requestState: result['requestState'], inputResponses: { connect: { action: 'accept' } } };
    }
    const last = await ask(params);
    expect(last.message.result).toMatchObject({
      isError: true,
      _meta: { 'behalf/auth': { server: 'signed' } },
    });
    const others = await ask(params, await createWireClient(bob, rig.gateway.url));
    expect(others.message.error?.code).toBe(-32602);
  });

  test('an error that names the page', async () => {
    const { client, page } = await begin();
    const legacy = await createLegacyClient(client, { capabilities: url });
    const { status, message } = await legacy.request('tools/call', call);
    expect([status, message.error?.code]).toEqual([200, -32042]);
    const [elicitation] = message.error?.data?.['elicitations'] as [{ mode: string; url: string }];
    expect([elicitation.mode, new URL(elicitation.url).pathname]).toEqual(['url', page]);
  });

  test('the page behind it is for the user who was asked', async () => {
    const { ada, bob, client } = await begin();
    const { result = {} } = (await sendModern(client, 'tools/call', call)).message;
    const { connectUrl } = (result['_meta'] as SignInError)['behalf/auth'];
    expect((result['content'] as { text: string }[]).at(-1)?.text).toContain(connectUrl);
    const { search } = new URL(connectUrl);
    const readSignIn = async (by: TestUser, server = 'signed') => {
      const response = await by.get(`/api/mcp/${server}/oauth/asked${search}`);
      return [response.status, ((await response.json()) as { code?: string }).code];
    };
    expect([await readSignIn(ada), await readSignIn(bob), await readSignIn(ada, 'other')]).toEqual([
      [200, undefined],
      [403, 'MCP_CONNECT_LINK_FORBIDDEN'],
      [403, 'MCP_CONNECT_LINK_FORBIDDEN'],
    ]);
  });

  test('ten calls at once are one card, and those of others another', async () => {
    const { bob, client } = await begin();
    const cardsOf = async (by: typeof client) => {
      const legacy = await createLegacyClient(by, { capabilities: url });
      const responses = await Promise.all(
        Array.from({ length: 10 }, () => legacy.request('tools/call', call)),
      );
      const cards = responses.map(({ message }) => JSON.stringify(message.error?.data?.['elicitations']));
      return new Set(cards);
    };
    const own = await cardsOf(client);
    const others = await cardsOf(await createWireClient(bob, rig.gateway.url));
    expect([own.size, others.size, new Set([...own, ...others]).size]).toEqual([1, 1, 2]);
  });

  test('a failed result with the link, for everybody else', async () => {
    const { client, page } = await begin();
    const results = [
      (await sendModern(client, 'tools/call', call)).message.result,
      (await sendModern(client, 'tools/call', call, { capabilities: { elicitation: {} } })).message.result,
      (await (await createLegacyClient(client)).request('tools/call', call)).message.result,
      (
        await (
          await createLegacyClient(client, { version: '2025-06-18', capabilities: url })
        ).request('tools/call', call)
      ).message.result,
    ];
    for (const result of results) {
      const content = result?.['content'] as { text: string }[];
      expect(result).toMatchObject({ isError: true, _meta: { 'behalf/auth': { code: 'needs_reauth' } } });
      expect(content.at(-1)?.text).toContain(page);
    }
  });

  /** What has no result that could fail: at the server's own endpoint, and at that of all under every name. */
  const completing = (name: string) => ({
    ref: { type: 'ref/prompt', name },
    argument: { name: 'who', value: 'A' },
  });
  const reads = [
    ['/mcp/signed', 'resources/read', { uri: 'x:1' }],
    ['/mcp/signed', 'prompts/get', { name: 'greet' }],
    ['/mcp/signed', 'completion/complete', completing('greet')],
    ['/mcp', 'resources/read', { uri: 'behalf:signed/x:1' }],
    ['/mcp', 'prompts/get', { name: 'signed__greet' }],
    ['/mcp', 'prompts/get', { name: 'greet' }],
    ['/mcp', 'completion/complete', completing('signed__greet')],
  ] as const;

  test('also for what is read, and for names of all servers', async () => {
    const { ada, page } = await begin();
    for (const [path, method, params] of reads) {
      const client = await createWireClient(ada, rig.gateway.url, path);
      const legacy = await createLegacyClient(client, { capabilities: url });
      const { message } = await legacy.request(method, params);
      expect([path, method, message.error?.code]).toEqual([path, method, -32042]);
      const modern = await sendModern(client, method, params, { capabilities: url });
      if (method === 'completion/complete') {
        // Not for this one: the protocol has no questions for who completes.
        expect(modern.message.error?.data).toMatchObject({ 'behalf/auth': { server: 'signed' } });
        continue;
      }
      const { inputRequests, resultType } = modern.message.result ?? {};
      const { connect } = inputRequests as { connect: { params: { url: string } } };
      expect([path, method, resultType]).toEqual([path, method, 'input_required']);
      expect(new URL(connect.params.url).pathname).toBe(page);
    }
  });

  test('an error with the link where there is no result to fail', async () => {
    const { ada, page } = await begin();
    for (const [path, method, params] of reads) {
      const client = await createWireClient(ada, rig.gateway.url, path);
      const { status, message } = await sendModern(client, method, params);
      expect([method, status, message.error?.data?.['code']]).toEqual([
        method,
        200,
        'MCP_AUTHORIZATION_REQUIRED',
      ]);
      expect(message.error?.code).toBeLessThan(-31_000);
      expect(message.error?.code).toBeGreaterThan(-32_000);
      const { connectUrl } = message.error?.data?.['behalf/auth'] as { connectUrl: string };
      expect(new URL(connectUrl).pathname).toBe(page);
    }
  });
});

import { describe, expect, test } from '@jest/globals';
import { settingsWith } from './endpointScene.ts';
import { legacyClient, modernRequest, wireClient } from './mcpClient.ts';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { http } from './serverYaml.ts';

const url = { elicitation: { url: {} } };

interface Told {
  'behalf/auth': { connectUrl: string };
}

describe('a server that its user must connect first', () => {
  const scene = createScene();

  async function begin() {
    const upstream = await scene.serve({ era: 'legacy', tools: [{ name: 'echo' }] });
    const servers = { signed: http(upstream.url, { requiresOAuth: true }) };
    const [ada, bob] = (await scene.begin(
      settingsWith(servers, { names: 'priority', priority: ['signed'] }),
      ['Ada', 'Bob'],
    )) as [Person, Person];
    const page = new URL('/servers/signed', scene.gateway.url).pathname;
    return { ada, bob, page, upstream, client: await wireClient(ada, scene.gateway.url) };
  }

  const call = { name: 'signed__echo' };

  test('a page to open, and the same call again', async () => {
    const { client, bob, page } = await begin();
    const ask = (params: object = {}, by = client) =>
      modernRequest(by, 'tools/call', { ...call, ...params }, { capabilities: url });
    let params: object = {};
    for (let times = 1; times <= 3; times += 1) {
      const { result = {} } = (await ask(params)).answer;
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
    expect(last.answer.result).toMatchObject({
      isError: true,
      _meta: { 'behalf/auth': { server: 'signed' } },
    });
    const others = await ask(params, await wireClient(bob, scene.gateway.url));
    expect(others.answer.error?.code).toBe(-32602);
  });

  test('an error that names the page', async () => {
    const { client, page } = await begin();
    const legacy = await legacyClient(client, { capabilities: url });
    const { status, answer } = await legacy.request('tools/call', call);
    expect([status, answer.error?.code]).toEqual([200, -32042]);
    const [elicitation] = answer.error?.data?.['elicitations'] as [{ mode: string; url: string }];
    expect([elicitation.mode, new URL(elicitation.url).pathname]).toEqual(['url', page]);
  });

  test('the page behind it is for the user who was asked', async () => {
    const { ada, bob, client } = await begin();
    const { result = {} } = (await modernRequest(client, 'tools/call', call)).answer;
    const { connectUrl } = (result['_meta'] as Told)['behalf/auth'];
    expect((result['content'] as { text: string }[]).at(-1)?.text).toContain(connectUrl);
    const { search } = new URL(connectUrl);
    const asked = async (by: Person, server = 'signed') => {
      const response = await by.get(`/api/mcp/${server}/oauth/asked${search}`);
      return [response.status, ((await response.json()) as { code?: string }).code];
    };
    expect([await asked(ada), await asked(bob), await asked(ada, 'other')]).toEqual([
      [200, undefined],
      [403, 'MCP_CONNECT_LINK_FORBIDDEN'],
      [403, 'MCP_CONNECT_LINK_FORBIDDEN'],
    ]);
  });

  test('ten calls at once are one card, and those of others another', async () => {
    const { bob, client } = await begin();
    const cardsOf = async (by: typeof client) => {
      const legacy = await legacyClient(by, { capabilities: url });
      const told = await Promise.all(Array.from({ length: 10 }, () => legacy.request('tools/call', call)));
      const cards = told.map(({ answer }) => JSON.stringify(answer.error?.data?.['elicitations']));
      return new Set(cards);
    };
    const own = await cardsOf(client);
    const others = await cardsOf(await wireClient(bob, scene.gateway.url));
    expect([own.size, others.size, new Set([...own, ...others]).size]).toEqual([1, 1, 2]);
  });

  test('a failed result with the link, for everybody else', async () => {
    const { client, page } = await begin();
    const results = [
      (await modernRequest(client, 'tools/call', call)).answer.result,
      (await modernRequest(client, 'tools/call', call, { capabilities: { elicitation: {} } })).answer.result,
      (await (await legacyClient(client)).request('tools/call', call)).answer.result,
      (
        await (
          await legacyClient(client, { version: '2025-06-18', capabilities: url })
        ).request('tools/call', call)
      ).answer.result,
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
      const client = await wireClient(ada, scene.gateway.url, path);
      const legacy = await legacyClient(client, { capabilities: url });
      const { answer } = await legacy.request(method, params);
      expect([path, method, answer.error?.code]).toEqual([path, method, -32042]);
      const modern = await modernRequest(client, method, params, { capabilities: url });
      if (method === 'completion/complete') {
        // Not for this one: the protocol has no questions for who completes.
        expect(modern.answer.error?.data).toMatchObject({ 'behalf/auth': { server: 'signed' } });
        continue;
      }
      const { inputRequests, resultType } = modern.answer.result ?? {};
      const { connect } = inputRequests as { connect: { params: { url: string } } };
      expect([path, method, resultType]).toEqual([path, method, 'input_required']);
      expect(new URL(connect.params.url).pathname).toBe(page);
    }
  });

  test('an error with the link where there is no result to fail', async () => {
    const { ada, page } = await begin();
    for (const [path, method, params] of reads) {
      const client = await wireClient(ada, scene.gateway.url, path);
      const { status, answer } = await modernRequest(client, method, params);
      expect([method, status, answer.error?.data?.['code']]).toEqual([
        method,
        200,
        'MCP_AUTHORIZATION_REQUIRED',
      ]);
      expect(answer.error?.code).toBeLessThan(-31_000);
      expect(answer.error?.code).toBeGreaterThan(-32_000);
      const { connectUrl } = answer.error?.data?.['behalf/auth'] as { connectUrl: string };
      expect(new URL(connectUrl).pathname).toBe(page);
    }
  });
});

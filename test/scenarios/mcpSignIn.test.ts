import { verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { legacyClient, modernRequest, wireClient } from './mcpClient.ts';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { http, yamlWith } from './serverYaml.ts';

const url = { elicitation: { url: {} } };

describe('a server that its user must connect first', () => {
  const scene = createScene();

  async function begin() {
    const upstream = await scene.serve({ era: 'legacy', tools: [{ name: 'echo' }] });
    const [ada, bob] = (await scene.begin(yamlWith({ signed: http(upstream.url, { requiresOAuth: true }) }), [
      'Ada',
      'Bob',
    ])) as [Person, Person];
    const page = new URL('/servers/signed', scene.gateway.url).pathname;
    return { ada, bob, page, upstream, client: await wireClient(ada, scene.gateway.url) };
  }

  const call = { name: 'signed__echo' };

  verifies('mcp.signin.forms', 'a page to open, and the same call again', async () => {
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

  verifies('mcp.signin.forms', 'an error that names the page', async () => {
    const { client, page } = await begin();
    const legacy = await legacyClient(client, { capabilities: url });
    const { status, answer } = await legacy.request('tools/call', call);
    expect([status, answer.error?.code]).toEqual([200, -32042]);
    const [elicitation] = answer.error?.data?.['elicitations'] as [{ mode: string; url: string }];
    expect([elicitation.mode, new URL(elicitation.url).pathname]).toEqual(['url', page]);
  });

  verifies('mcp.signin.forms', 'a failed result with the link, for everybody else', async () => {
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

  verifies('mcp.signin.forms', 'an error with the link where there is no result to fail', async () => {
    const { ada, page } = await begin();
    const one = await wireClient(ada, scene.gateway.url, '/mcp/signed');
    for (const [method, params] of [
      ['resources/read', { uri: 'x:1' }],
      ['prompts/get', { name: 'greet' }],
    ] as const) {
      const { status, answer } = await modernRequest(one, method, params);
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

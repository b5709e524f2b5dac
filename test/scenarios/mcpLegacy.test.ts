import { scriptedError } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createLegacyClient, sendModern, createWireClient } from './mcpClient.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const tools = [{ name: 'echo', description: 'Says it again' }];

describe('the MCP endpoint, for clients with a session', () => {
  const rig = createGatewayRig();

  test('in every revision, at a server of either era', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const upstream = await rig.startServer({ era, tools });
      const [ada] = (await rig.start(renderYaml({ files: httpDefinition(upstream.url) }))) as [TestUser];
      for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
        const wire = await createWireClient(ada, rig.gateway.url, '/mcp/files');
        const client = await createLegacyClient(wire, { version });
        expect(client.initializeResult).toMatchObject({
          protocolVersion: version,
          serverInfo: { name: 'behalf' },
        });
        const listed = await client.request('tools/list');
        expect(listed.message.result).toEqual({
          tools: [{ name: 'echo', description: 'Says it again', inputSchema: { type: 'object' } }],
        });
        const called = await client.request('tools/call', { name: 'echo', arguments: { a: 1 } });
        expect([called.status, called.message.result]).toEqual([
          200,
          { content: [{ type: 'text', text: '{"a":1}' }] },
        ]);
        expect((await client.request('ping')).message.result).toEqual({});
      }
    }
  });

  test('and the newest for one that we do not know', async () => {
    const upstream = await rig.startServer({ era: 'legacy', tools });
    const [ada] = (await rig.start(renderYaml({ files: httpDefinition(upstream.url) }))) as [TestUser];
    const wire = await createWireClient(ada, rig.gateway.url);
    for (const version of ['1999-01-01', '2026-07-28', 'x']) {
      const client = await createLegacyClient(wire, { version });
      expect(client.initializeResult).toMatchObject({ protocolVersion: '2025-11-25' });
      expect((await client.request('tools/list')).status).toBe(200);
    }
    const oldest = await createLegacyClient(wire, { version: '2024-11-05' });
    expect(oldest.initializeResult['capabilities']).not.toHaveProperty('completions');
  });

  test('under the errors of its own era', async () => {
    const methods = {
      'resources/list': () => ({ resources: [{ uri: 'x:1', name: 'one' }] }),
      'resources/read': ({ uri }: { uri?: unknown }) => {
        if (uri !== 'x:1') throw scriptedError(-32602, 'No such resource');
        return { contents: [{ uri: 'x:1', text: 'one' }] };
      },
      'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'x:{id}', name: 't' }] }),
      'prompts/list': () => ({ prompts: [{ name: 'greet' }] }),
      'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }] }),
      'completion/complete': () => ({ completion: { values: ['one', 'two'] } }),
    };
    const odd = {
      name: 'odd',
      outputSchema: { type: 'array' },
      handler: () => ({ content: [], structuredContent: [1] }),
    };
    const capabilities = { tools: {}, resources: {}, prompts: {}, completions: {} };
    for (const era of ['legacy', 'modern'] as const) {
      const upstream = await rig.startServer({ era, capabilities, methods, tools: [...tools, odd] });
      const [ada] = (await rig.start(renderYaml({ files: httpDefinition(upstream.url) }))) as [TestUser];
      const wire = await createWireClient(ada, rig.gateway.url);
      const legacy = await createLegacyClient(wire);
      const ask = {
        legacy: async (method: string, params: object = {}) =>
          (await legacy.request(method, { ...params })).message,
        modern: async (method: string, params: object = {}) =>
          (await sendModern(wire, method, { ...params })).message,
      };
      for (const by of ['legacy', 'modern'] as const) {
        const pending = ask[by];
        const ref = { type: 'ref/prompt', name: 'files__greet' };
        const argument = { name: 'who', value: '' };
        expect((await pending('resources/list')).result).toMatchObject({ resources: [{ uri: 'x:1' }] });
        expect((await pending('resources/read', { uri: 'x:1' })).result).toMatchObject({
          contents: [{ text: 'one' }],
        });
        expect((await pending('resources/templates/list')).result).toMatchObject({
          resourceTemplates: [{ uriTemplate: 'x:{id}' }],
        });
        expect((await pending('prompts/get', { name: 'files__greet' })).result).toMatchObject({
          messages: [{ role: 'user' }],
        });
        expect((await pending('completion/complete', { ref, argument })).result).toMatchObject({
          completion: { values: ['one', 'two'] },
        });
        const template = { type: 'ref/resource', uri: 'x:{id}' };
        expect((await pending('completion/complete', { ref: template, argument })).result).toBeDefined();
        expect((await pending('completion/complete', { ref: {}, argument })).error?.code).toBe(-32602);
        const missing = await pending('resources/read', { uri: 'x:2' });
        expect([era, by, missing.error?.code]).toEqual([era, by, by === 'modern' ? -32602 : -32002]);
        // What is new in the modern era is told to nobody who cannot know it.
        const call = (await pending('tools/call', { name: 'files__odd' })).result ?? {};
        const listed = (await pending('tools/list')).result?.['tools'] as Record<string, unknown>[];
        const isNew = by === 'modern';
        expect([by, 'resultType' in call, 'structuredContent' in call]).toEqual([by, isNew, isNew]);
        expect('outputSchema' in listed.find(({ name }) => name === 'files__odd')!).toBe(isNew);
      }
    }
  });
});

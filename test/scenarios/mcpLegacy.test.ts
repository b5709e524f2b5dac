import { scriptedError } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { legacyClient, modernRequest, wireClient } from './mcpClient.ts';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { http, yamlWith } from './serverYaml.ts';

const tools = [{ name: 'echo', description: 'Says it again' }];

describe('the MCP endpoint, for clients with a session', () => {
  const scene = createScene();

  test('in every revision, at a server of either era', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const upstream = await scene.serve({ era, tools });
      const [ada] = (await scene.begin(yamlWith({ files: http(upstream.url) }))) as [Person];
      for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
        const wire = await wireClient(ada, scene.gateway.url, '/mcp/files');
        const client = await legacyClient(wire, { version });
        expect(client.opened).toMatchObject({ protocolVersion: version, serverInfo: { name: 'behalf' } });
        const listed = await client.request('tools/list');
        expect(listed.answer.result).toEqual({
          tools: [{ name: 'echo', description: 'Says it again', inputSchema: { type: 'object' } }],
        });
        const called = await client.request('tools/call', { name: 'echo', arguments: { a: 1 } });
        expect([called.status, called.answer.result]).toEqual([
          200,
          { content: [{ type: 'text', text: '{"a":1}' }] },
        ]);
        expect((await client.request('ping')).answer.result).toEqual({});
      }
    }
  });

  test('and the newest for one that we do not know', async () => {
    const upstream = await scene.serve({ era: 'legacy', tools });
    const [ada] = (await scene.begin(yamlWith({ files: http(upstream.url) }))) as [Person];
    const wire = await wireClient(ada, scene.gateway.url);
    for (const version of ['1999-01-01', '2026-07-28', 'x']) {
      const client = await legacyClient(wire, { version });
      expect(client.opened).toMatchObject({ protocolVersion: '2025-11-25' });
      expect((await client.request('tools/list')).status).toBe(200);
    }
    const oldest = await legacyClient(wire, { version: '2024-11-05' });
    expect(oldest.opened['capabilities']).not.toHaveProperty('completions');
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
      const upstream = await scene.serve({ era, capabilities, methods, tools: [...tools, odd] });
      const [ada] = (await scene.begin(yamlWith({ files: http(upstream.url) }))) as [Person];
      const wire = await wireClient(ada, scene.gateway.url);
      const legacy = await legacyClient(wire);
      const ask = {
        legacy: async (method: string, params: object = {}) =>
          (await legacy.request(method, { ...params })).answer,
        modern: async (method: string, params: object = {}) =>
          (await modernRequest(wire, method, { ...params })).answer,
      };
      for (const by of ['legacy', 'modern'] as const) {
        const asked = ask[by];
        const ref = { type: 'ref/prompt', name: 'files__greet' };
        const argument = { name: 'who', value: '' };
        expect((await asked('resources/list')).result).toMatchObject({ resources: [{ uri: 'x:1' }] });
        expect((await asked('resources/read', { uri: 'x:1' })).result).toMatchObject({
          contents: [{ text: 'one' }],
        });
        expect((await asked('resources/templates/list')).result).toMatchObject({
          resourceTemplates: [{ uriTemplate: 'x:{id}' }],
        });
        expect((await asked('prompts/get', { name: 'files__greet' })).result).toMatchObject({
          messages: [{ role: 'user' }],
        });
        expect((await asked('completion/complete', { ref, argument })).result).toMatchObject({
          completion: { values: ['one', 'two'] },
        });
        const template = { type: 'ref/resource', uri: 'x:{id}' };
        expect((await asked('completion/complete', { ref: template, argument })).result).toBeDefined();
        expect((await asked('completion/complete', { ref: {}, argument })).error?.code).toBe(-32602);
        const missing = await asked('resources/read', { uri: 'x:2' });
        expect([era, by, missing.error?.code]).toEqual([era, by, by === 'modern' ? -32602 : -32002]);
        // What is new in the modern era is told to nobody who cannot know it.
        const call = (await asked('tools/call', { name: 'files__odd' })).result ?? {};
        const listed = (await asked('tools/list')).result?.['tools'] as Record<string, unknown>[];
        const isNew = by === 'modern';
        expect([by, 'resultType' in call, 'structuredContent' in call]).toEqual([by, isNew, isNew]);
        expect('outputSchema' in listed.find(({ name }) => name === 'files__odd')!).toBe(isNew);
      }
    }
  });
});

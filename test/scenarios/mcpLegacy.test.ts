import { verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { legacyClient, wireClient } from './mcpClient.ts';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { http, yamlWith } from './serverYaml.ts';

const tools = [{ name: 'echo', description: 'Says it again' }];

describe('the MCP endpoint, for clients with a session', () => {
  const scene = createScene();

  verifies('mcp.legacy.tools', 'in every revision, at a server of either era', async () => {
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
});

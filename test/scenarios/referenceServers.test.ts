import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createUsers, type CallBody, type TestUser } from './users.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { filesystemScript, memoryScript, startEverything, type ReferenceServer } from './referenceServers.ts';
import { everythingScript } from './scriptedYaml.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';
import { startV1Server, type V1Server } from './v1Server.ts';

const node = process.execPath;

describe('real servers through REST', () => {
  let gateway: InProcessGateway;
  let ada: TestUser;
  let dir: string;
  let v1: V1Server;
  const running: ReferenceServer[] = [];

  beforeAll(async () => {
    dir = await realpath(await mkdtemp(join(tmpdir(), 'behalf-files-')));
    await writeFile(join(dir, 'note.txt'), 'from the disk');
    const [sse, streamable] = await Promise.all([startEverything('sse'), startEverything('streamableHttp')]);
    running.push(sse, streamable);
    v1 = await startV1Server();
    const yaml = renderYaml({
      stdio: { command: node, args: [everythingScript, 'stdio'] },
      sse: { type: 'sse', url: sse.url },
      streamable: httpDefinition(streamable.url),
      files: { command: node, args: [filesystemScript, dir] },
      memory: { command: node, args: [memoryScript], env: { MEMORY_FILE_PATH: join(dir, 'memory.json') } },
      v1: httpDefinition(v1.url),
    });
    gateway = await startInProcess({}, yaml);
    [ada] = (await createUsers(gateway, ['Ada'])) as [TestUser];
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    await Promise.all(running.map((server) => server.stop()));
    await v1.close();
    await rm(dir, { recursive: true, force: true });
  });

  test('the tools of every server are listed, whatever it is reached by', async () => {
    const view = (await (await ada.get('/api/mcp/tools')).json()) as {
      servers: Record<string, { state: string; tools: { name: string; pluginKey: string }[] }>;
    };
    const names = (server: string) => view.servers[server]?.tools.map(({ name }) => name);
    for (const server of ['stdio', 'sse', 'streamable']) {
      expect([server, view.servers[server]?.state]).toEqual([server, 'connected']);
      expect(names(server)).toEqual(expect.arrayContaining(['echo', 'get-structured-content']));
    }
    expect(names('files')).toContain('read_text_file');
    expect(names('memory')).toContain('create_entities');
    expect(names('v1')).toEqual(['greet']);
    expect(view.servers['v1']?.tools[0]?.pluginKey).toBe('greet_mcp_v1');
  }, 60_000);

  test('a call brings back what the tool answered', async () => {
    for (const server of ['stdio', 'sse', 'streamable']) {
      const { status, body } = await ada.call(server, 'echo', { message: 'hi' });
      expect([server, status, body.isError, body.content?.[0]?.text]).toEqual([
        server,
        200,
        false,
        'Echo: hi',
      ]);
    }
    const read = await ada.call('files', 'read_text_file', { path: join(dir, 'note.txt') });
    expect(read.body.content?.[0]?.text).toBe('from the disk');
    const made = await ada.call('memory', 'create_entities', {
      entities: [{ name: 'Ada', entityType: 'person', observations: ['counts'] }],
    });
    expect(made.body.isError).toBe(false);
    expect((await ada.call('v1', 'greet', { name: 'Ada' })).body.content?.[0]?.text).toBe('Hello, Ada');
  });

  test('structured content and isError arrive', async () => {
    for (const server of ['stdio', 'sse', 'streamable']) {
      const { body } = await ada.call(server, 'get-structured-content', { location: 'Chicago' });
      expect([server, body.structuredContent]).toEqual([
        server,
        expect.objectContaining({ conditions: expect.anything() as unknown }),
      ]);
    }
    const failed = await ada.call('files', 'read_text_file', { path: '/nowhere/else' });
    expect([failed.status, failed.body.isError]).toEqual([200, true]);
    expect(failed.body.content?.[0]?.text).toMatch(/denied|outside/i);
  });

  test('progress is heard on the way to the result', async () => {
    for (const server of ['stdio', 'sse', 'streamable']) {
      const response = await ada.post(
        `/api/mcp/servers/${server}/tools/trigger-long-running-operation/call`,
        { arguments: { duration: 0.4, steps: 2 } },
        { headers: { accept: 'text/event-stream' } },
      );
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      const events = readEvents(await response.text());
      expect([server, events.map(({ event }) => event)]).toEqual([
        server,
        ['progress', 'progress', 'result'],
      ]);
      expect((events.at(-1)?.data as CallBody).isError).toBe(false);
    }
  });

  test('who leaves cancels the call, and the server stays usable', async () => {
    for (const server of ['stdio', 'sse', 'streamable']) {
      const left = new AbortController();
      const response = await ada.post(
        `/api/mcp/servers/${server}/tools/trigger-long-running-operation/call`,
        { arguments: { duration: 60, steps: 600 } },
        { headers: { accept: 'text/event-stream' }, signal: left.signal },
      );
      const reader = response.body!.getReader();
      // It runs: leaving before that would prove nothing.
      expect(new TextDecoder().decode((await reader.read()).value as Uint8Array)).toContain(
        'event: progress',
      );
      left.abort();
      await expect(reader.read()).rejects.toThrow();
      expect((await ada.call(server, 'echo', { message: 'on' })).body.content?.[0]?.text).toBe('Echo: on');
    }
  });

  test('resources are listed and read, prompts are listed and filled in', async () => {
    for (const server of ['stdio', 'sse', 'streamable']) {
      const base = `/api/mcp/servers/${server}`;
      const { resources } = (await (await ada.get(`${base}/resources`)).json()) as {
        resources: { uri: string }[];
      };
      expect(resources.length).toBeGreaterThan(0);
      const uri = resources[0]!.uri;
      const read = (await (await ada.post(`${base}/resources/read`, { uri })).json()) as {
        contents: { uri: string }[];
      };
      expect(read.contents[0]?.uri).toBe(uri);
      const { resourceTemplates } = (await (await ada.get(`${base}/resources/templates`)).json()) as {
        resourceTemplates: unknown[];
      };
      expect(resourceTemplates.length).toBeGreaterThan(0);
      const { prompts } = (await (await ada.get(`${base}/prompts`)).json()) as {
        prompts: { name: string }[];
      };
      expect(prompts.map(({ name }) => name)).toContain('args-prompt');
      const filled = await ada.post(`${base}/prompts/args-prompt/get`, { arguments: { city: 'Paris' } });
      expect(JSON.stringify(await filled.json())).toContain('Paris');
      const missing = await ada.post(`${base}/resources/read`, { uri: 'demo://nothing/here' });
      expect([server, missing.status]).toEqual([server, 404]);
    }
  });

  test('arguments that do not fit are refused by field before anything is sent', async () => {
    const { status, body } = await ada.call('streamable', 'get-sum', { a: 1, b: 'two' });
    expect([status, body.code]).toEqual([400, 'MCP_ARGUMENTS_INVALID']);
    expect(body.errors?.[0]?.path).toBe('arguments.b');
    expect((await ada.call('v1', 'greet', {})).body.errors?.[0]?.path).toBe('arguments.name');
    expect(v1.calls).toBe(1);
  });

  test('a tool and a server that do not exist are told alike', async () => {
    for (const [server, tool] of [
      ['v1', 'nothing'],
      ['nowhere', 'greet'],
    ] as const) {
      const { status, body } = await ada.call(server, tool, {});
      expect([status, body.code]).toEqual([404, 'MCP_TOOL_NOT_FOUND']);
    }
  });

  test('a result is shaped for a model, with no picture as text', async () => {
    for (const format of ['openai', 'anthropic'] as const) {
      const response = await ada.post(`/api/mcp/servers/stdio/tools/get-tiny-image/call?format=${format}`, {
        arguments: {},
      });
      const shaped = (await response.json()) as { attachments: unknown[] };
      expect([format, response.status]).toEqual([format, 200]);
      if (format === 'openai')
        expect(JSON.stringify({ ...shaped, attachments: [] }).length).toBeLessThan(2_000);
    }
    const wrong = await ada.post('/api/mcp/servers/stdio/tools/echo/call?format=word', { arguments: {} });
    expect(wrong.status).toBe(400);
  });
});

function readEvents(text: string): { event: string; data: unknown }[] {
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('event: '))
    .map((block) => {
      const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      return { event, data: JSON.parse(data) as unknown };
    });
}

import { eventually, type ScriptedReply } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { Person } from './people.ts';
import { createScene } from './scene.ts';
import { server as scripted } from './scriptedYaml.ts';
import { http, yamlWith } from './serverYaml.ts';

const MEGABYTE = Buffer.alloc(1024 * 1024, 'x');

/** What a server may do instead of answering a call, and what its caller is told. */
const faults: Record<string, [ScriptedReply, status: number, code: string]> = {
  garbage: [
    { status: 200, headers: { 'content-type': 'application/json' }, body: 'not json' },
    502,
    'MCP_PROTOCOL_ERROR',
  ],
  'an answer to another question': [
    { status: 200, body: { jsonrpc: '2.0', id: 'other', result: {} } },
    502,
    'MCP_PROTOCOL_ERROR',
  ],
  'half an event': [
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('event: message\ndata: {"jsonrpc":"2.0",');
    },
    502,
    'MCP_OUTCOME_UNCERTAIN',
  ],
  '200 MB': [
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      let left = 200;
      const more = () => {
        while (left > 0 && !response.destroyed) {
          left -= 1;
          if (!response.write(MEGABYTE)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    },
    502,
    'MCP_RESPONSE_TOO_LARGE',
  ],
  'nothing at all': ['hang', 504, 'MCP_TIMEOUT'],
  'a broken connection': ['reset', 502, 'MCP_OUTCOME_UNCERTAIN'],
  'a redirect to the metadata service': [
    { status: 307, headers: { location: 'http://169.254.169.254/latest/meta-data/' } },
    403,
    'MCP_DOMAIN_NOT_ALLOWED',
  ],
  'a redirect that would change the request': [
    { status: 302, headers: { location: '/elsewhere' } },
    502,
    'MCP_PROTOCOL_ERROR',
  ],
  'a server error': [{ status: 500, body: 'stack trace of the server' }, 502, 'MCP_OUTCOME_UNCERTAIN'],
  'too many requests': [{ status: 429, headers: { 'retry-after': '7' } }, 429, 'MCP_RATE_LIMITED'],
};

describe('servers that misbehave', () => {
  const scene = createScene();

  for (const era of ['legacy', 'modern'] as const) {
    test(`each fault is a typed error, and the next call works: ${era}`, async () => {
      let fault: ScriptedReply | undefined;
      const server = await scene.serve({
        era,
        tools: [{ name: 'echo' }],
        respond: ({ message }) => (message?.method === 'tools/call' ? fault : undefined),
      });
      const [ada] = (await scene.begin(yamlWith({ odd: http(server.url, { timeout: 400 }) }))) as [Person];
      for (const [name, [reply, status, code]] of Object.entries(faults)) {
        fault = reply;
        const failed = await ada.call('odd', 'echo', {});
        expect([name, failed.status, failed.body.code]).toEqual([name, status, code]);
        expect(JSON.stringify(failed.body)).not.toContain('stack trace');
        fault = undefined;
        const next = await ada.call('odd', 'echo', { again: name });
        expect([name, next.status]).toEqual([name, 200]);
      }
    }, 60_000);
  }

  test('a child process killed in the middle of a call', async () => {
    const [ada] = (await scene.begin(`mcpServers:\n${scripted('child')}`)) as [Person];
    const failed = await ada.call('child', 'exit');
    expect([failed.status, failed.body.code]).toEqual([502, 'MCP_OUTCOME_UNCERTAIN']);
    expect((await ada.call('child', 'echo', { message: 'on' })).status).toBe(200);
  });

  test('a caller who leaves is told to the server', async () => {
    const running: AbortSignal[] = [];
    const slow = {
      name: 'slow',
      handler: (_args: object, { signal }: { signal: AbortSignal }) => {
        running.push(signal);
        return new Promise<never>(() => undefined);
      },
    };
    for (const era of ['legacy', 'modern'] as const) {
      const server = await scene.serve({ era, tools: [slow] });
      const [ada] = (await scene.begin(yamlWith({ slow: http(server.url) }))) as [Person];
      const left = new AbortController();
      const call = ada.call('slow', 'slow', {}, { signal: left.signal });
      await eventually('the call to arrive', () => running.length === (era === 'legacy' ? 1 : 2));
      left.abort();
      await expect(call).rejects.toThrow();
      await eventually('the cancellation to arrive', () => running.at(-1)?.aborted === true);
    }
  });

  test('log messages of a call reach its own caller alone', async () => {
    const chatty = {
      name: 'chatty',
      handler: (args: object, call: { log(level: string, data: unknown): void }) => {
        call.log('info', args);
        return { content: [] };
      },
    };
    const server = await scene.serve({ era: 'legacy', tools: [chatty] });
    const [ada, bob] = (await scene.begin(yamlWith({ chatty: http(server.url) }), ['Ada', 'Bob'])) as [
      Person,
      Person,
    ];
    const listen = async (person: Person, who: string) => {
      const path = '/api/mcp/servers/chatty/tools/chatty/call';
      const init = { headers: { accept: 'text/event-stream' } };
      return (await person.post(path, { arguments: { who } }, init)).text();
    };
    const [heardByAda, heardByBob] = await Promise.all([listen(ada, 'ada'), listen(bob, 'bob')]);
    expect(heardByAda).toContain('event: log');
    expect(heardByAda).toContain('"who":"ada"');
    expect(heardByAda).not.toContain('bob');
    expect(heardByBob).not.toContain('"who":"ada"');
  });

  test('a pattern that would never end moves nobody', async () => {
    const hostile = {
      name: 'hostile',
      inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a|a)*$' } } },
    };
    const server = await scene.serve({ era: 'legacy', tools: [hostile, { name: 'echo' }] });
    const [ada, bob] = (await scene.begin(yamlWith({ odd: http(server.url) }), ['Ada', 'Bob'])) as [
      Person,
      Person,
    ];
    const [judged, other] = await Promise.all([
      ada.call('odd', 'hostile', { a: `${'a'.repeat(40)}!` }),
      bob.call('odd', 'echo', {}),
    ]);
    expect([judged.status, judged.body.code]).toEqual([400, 'MCP_ARGUMENTS_INVALID']);
    expect(other.status).toBe(200);
    expect(server.received('tools/call')).toHaveLength(1);
  });

  test('one dead server neither blocks nor empties the list of the others', async () => {
    const well = await scene.serve({ era: 'legacy', tools: [{ name: 'echo' }] });
    const dead = await scene.serve({ era: 'legacy' });
    await dead.close();
    const refusing = await scene.serve({ era: 'legacy', respond: () => ({ status: 503 }) });
    const [ada] = (await scene.begin(
      yamlWith({ well: http(well.url), dead: http(dead.url), refusing: http(refusing.url) }),
    )) as [Person];
    const { servers } = (await (await ada.get('/api/mcp/tools')).json()) as {
      servers: Record<string, { state: string; code?: string; tools: unknown[] }>;
    };
    expect(servers['well']).toMatchObject({ state: 'connected', tools: [{ name: 'echo' }] });
    expect(servers['dead']).toMatchObject({ state: 'unreachable', code: 'MCP_UNREACHABLE', tools: [] });
    expect(servers['refusing']).toMatchObject({ state: 'unreachable', tools: [] });
    const { connectionStatus } = (await (await ada.get('/api/mcp/connection/status')).json()) as {
      connectionStatus: Record<string, { connectionState: string }>;
    };
    expect(connectionStatus['well']).toMatchObject({ connectionState: 'connected' });
    expect(connectionStatus['dead']).not.toMatchObject({ connectionState: 'connected' });
  });
});

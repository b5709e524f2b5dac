import { eventually, type ScriptedReply } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { createServerYaml as scripted } from './scriptedYaml.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

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
  const rig = createGatewayRig();

  for (const era of ['legacy', 'modern'] as const) {
    test(`each fault is a typed error, and the next call works: ${era}`, async () => {
      let fault: ScriptedReply | undefined;
      const server = await rig.startServer({
        era,
        tools: [{ name: 'echo' }],
        respond: ({ message }) => (message?.method === 'tools/call' ? fault : undefined),
      });
      const [ada] = (await rig.start(renderYaml({ odd: httpDefinition(server.url, { timeout: 400 }) }))) as [
        TestUser,
      ];
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
    const [ada] = (await rig.start(`mcpServers:\n${scripted('child')}`)) as [TestUser];
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
      const server = await rig.startServer({ era, tools: [slow] });
      const [ada] = (await rig.start(renderYaml({ slow: httpDefinition(server.url) }))) as [TestUser];
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
    const server = await rig.startServer({ era: 'legacy', tools: [chatty] });
    const [ada, bob] = (await rig.start(renderYaml({ chatty: httpDefinition(server.url) }), [
      'Ada',
      'Bob',
    ])) as [TestUser, TestUser];
    const listen = async (user: TestUser, who: string) => {
      const path = '/api/mcp/servers/chatty/tools/chatty/call';
      const init = { headers: { accept: 'text/event-stream' } };
      return (await user.post(path, { arguments: { who } }, init)).text();
    };
    const [receivedByAda, receivedByBob] = await Promise.all([listen(ada, 'ada'), listen(bob, 'bob')]);
    expect(receivedByAda).toContain('event: log');
    expect(receivedByAda).toContain('"who":"ada"');
    expect(receivedByAda).not.toContain('bob');
    expect(receivedByBob).not.toContain('"who":"ada"');
  });

  test('a pattern that would never end moves nobody', async () => {
    const hostile = {
      name: 'hostile',
      inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a|a)*$' } } },
    };
    const server = await rig.startServer({ era: 'legacy', tools: [hostile, { name: 'echo' }] });
    const [ada, bob] = (await rig.start(renderYaml({ odd: httpDefinition(server.url) }), ['Ada', 'Bob'])) as [
      TestUser,
      TestUser,
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
    const well = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    const dead = await rig.startServer({ era: 'legacy' });
    await dead.close();
    const refusing = await rig.startServer({ era: 'legacy', respond: () => ({ status: 503 }) });
    const [ada] = (await rig.start(
      renderYaml({
        well: httpDefinition(well.url),
        dead: httpDefinition(dead.url),
        refusing: httpDefinition(refusing.url),
      }),
    )) as [TestUser];
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

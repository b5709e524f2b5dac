import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCli, createApiKey, type Cli } from './cliRig.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createUsers, type TestUser } from './users.ts';
import { httpDefinition } from './serverYaml.ts';

const inputSchema = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Which file' },
    lines: { type: 'integer' },
    deep: { type: 'boolean' },
  },
  required: ['path', 'lines'],
};

const said = (text: string) => ({ content: [{ type: 'text', text }] });

describe('the command behalf', () => {
  let upstream: ScriptedHttpServer;
  let gateway: InProcessGateway;
  let nowhere: string;
  let dir: string;
  let ada: Cli;
  let root: Cli;

  beforeAll(async () => {
    upstream = await scriptedHttpServer({
      era: 'legacy',
      tools: [
        { name: 'read', inputSchema, handler: (args) => said(`\u001b[2Jread ${JSON.stringify(args)}`) },
        { name: 'fail', handler: () => ({ ...said('no'), isError: true }) },
        { name: 'hidden' },
      ],
    });
    nowhere = `http://127.0.0.1:${await freePort()}/mcp`;
    dir = await mkdtemp(join(tmpdir(), 'behalf-cli-'));
    gateway = await startInProcess(
      { RATE_LIMIT_WRITES: '100000' },
      JSON.stringify({
        mcpSettings: { allowedAddresses: [upstream.url, nowhere].map((url) => new URL(url).host) },
        mcpServers: {
          files: httpDefinition(upstream.url, {
            title: 'Files',
            tools: { exclude: ['hidden'] },
            headers: { 'X-Key': 'pl4nted' },
          }),
          unreachable: httpDefinition(nowhere),
          staff: httpDefinition(upstream.url, { access: { roles: ['ADMIN'] } }),
        },
        interface: { mcpServers: { use: true, create: true, share: true } },
      }),
    );
    const [admin, user] = (await createUsers(gateway, [{ name: 'Root', role: 'ADMIN' }, 'Ada'])) as [
      TestUser,
      TestUser,
    ];
    ada = createCli(gateway.url, await createApiKey(user, 'mcp', 'servers'));
    root = createCli(gateway.url, await createApiKey(admin, 'mcp', 'servers', 'admin'));
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
    await rm(dir, { recursive: true, force: true });
  });

  test('lists servers as they stand', async () => {
    const shown = await ada(['mcp', 'list']);
    expect([shown.code, shown.err]).toEqual([0, '']);
    expect(shown.out).toMatch(/^NAME +CONNECTION +SIGN-IN +TYPE +SOURCE +TITLE\n/);
    expect(shown.out).toMatch(/^files +\w+ +- +streamable-http +yaml +Files$/m);
    expect(shown.out).not.toContain('staff');
    expect(shown.out).not.toContain('\u001b');
    const json = (await ada(['mcp', 'list', '--json'])).json() as { servers: { name: string }[] };
    expect(json.servers.map(({ name }) => name).sort()).toEqual(['files', 'unreachable']);
  }, 60_000);

  test('adds a server after a look at it, and removes it again', async () => {
    const check = await ada(['mcp', 'add', 'My tools', '--server-url', upstream.url, '--check', '--json']);
    expect([check.code, check.json()]).toEqual([0, { added: false, inspected: true, tools: 3 }]);
    const added = await ada(['mcp', 'add', 'My tools', '--server-url', upstream.url, '--key-stdin'], {
      stdin: 'pl4nted-key\n',
    });
    expect([added.code, added.out]).toEqual([0, 'Added my-tools.\n']);
    expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer pl4nted-key');
    const wrong = await ada(['mcp', 'add', 'Nobody', '--server-url', nowhere]);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('not be reached')]);
    expect(wrong.err).toContain('Nothing was stored.');
    expect((await ada(['mcp', 'list'])).out).not.toContain('nobody');
    expect((await ada(['mcp', 'add', 'Lacking'])).code).toBe(2);
    const unsaid = await ada(['mcp', 'remove', 'my-tools']);
    expect([unsaid.code, unsaid.err]).toEqual([2, expect.stringContaining('--yes')]);
    expect((await ada(['mcp', 'remove', 'my-tools', '--yes', '--json'])).json()).toEqual({
      removed: true,
      serverName: 'my-tools',
    });
    expect((await ada(['mcp', 'remove', 'my-tools', '--yes'])).code).toBe(6);
    for (const { out, err } of [added, wrong, unsaid]) expect(out + err).not.toContain('pl4nted');
  }, 120_000);

  test('tests a server and says how it went', async () => {
    const well = await ada(['mcp', 'test', 'files', '--json']);
    expect([well.code, well.json()]).toEqual([
      0,
      expect.objectContaining({
        serverName: 'files',
        ok: true,
        tools: 2,
        credential: null,
        durationMs: expect.any(Number),
      }),
    ]);
    expect(well.err).toContain('Connecting files');
    const ill = await ada(['mcp', 'test', 'unreachable']);
    expect([ill.code, ill.out]).toEqual([1, expect.stringContaining('behalf doctor unreachable')]);
  }, 60_000);

  test('says on standard error what it is waiting for', async () => {
    const look = await ada(['mcp', 'add', 'Seen', '--server-url', upstream.url, '--check', '--json']);
    expect(look.err).toBe('Inspecting Seen ...\n');
    const called = await ada(['mcp', 'call', 'files', 'fail', '--json']);
    expect(called.err).toBe('Listing the tools of files ...\nCalling fail ...\n');
    expect([look.json(), called.json()]).toMatchObject([{ inspected: true }, { isError: true }]);
  }, 60_000);

  test('names every missing input before anything is sent', async () => {
    const before = upstream.received('tools/call').length;
    const missing = await ada(['mcp', 'call', 'files', 'read', '--arg', 'deep=maybe']);
    expect(missing.code).toBe(2);
    for (const words of [
      'deep is not of type boolean',
      'path is missing (string): Which file',
      'lines is missing (integer)',
    ]) {
      expect(missing.err).toContain(words);
    }
    expect(upstream.received('tools/call')).toHaveLength(before);
  }, 60_000);

  test('calls with typed inputs, and prints what came back without its escapes', async () => {
    const called = await ada(['mcp', 'call', 'files', 'read', '--arg', 'path=7', '--arg', 'lines=7']);
    expect([called.code, called.out]).toEqual([0, '[2Jread {"path":"7","lines":7}\n']);
    const json = await ada(['mcp', 'call', 'files', 'read', '--json-args', '-', '--json'], {
      stdin: '{"path":"a","lines":1}',
    });
    expect([json.code, json.json()]).toEqual([0, expect.objectContaining({ isError: false })]);
    expect(json.out).not.toContain('\u001b');
    expect((await ada(['mcp', 'call', 'files', 'fail'])).code).toBe(1);
    const absent = await ada(['mcp', 'call', 'files', 'raed']);
    expect([absent.code, absent.err]).toEqual([6, expect.stringContaining('did you mean "read"')]);
    expect((await ada(['mcp', 'call', 'files', 'hidden'])).code).toBe(6);
    expect((await ada(['mcp', 'call', 'staff', 'read'])).code).toBe(6);
  }, 120_000);

  test('a server that works is told to work, and who may see it sees where it is', async () => {
    const well = await ada(['doctor', 'files']);
    expect([well.code, well.out]).toEqual([0, expect.stringContaining('Your calls to files work.')]);
    expect(well.out).toMatch(/^ok {3}tools +You can use 2 tools; hidden by the policy: 1\.$/m);
    expect(well.out).not.toMatch(/127\.0\.0\.1|pl4nted/);
    const asRoot = await root(['doctor', 'files', '--all']);
    expect([asRoot.code, asRoot.out]).toEqual([0, expect.stringContaining(new URL(upstream.url).host)]);
    expect(asRoot.out).not.toContain('pl4nted');
  }, 60_000);

  test('a server that nobody serves fails at the step that says so', async () => {
    const ill = await ada(['doctor', 'unreachable', '--json']);
    expect([ill.code, ill.json()]).toMatchObject([1, { ok: false, failedAt: 'tls' }]);
    const { steps } = ill.json() as { steps: { step: string; outcome: string; code?: string }[] };
    expect(steps.find(({ step }) => step === 'tls')).toMatchObject({
      outcome: 'failed',
      code: 'MCP_UNREACHABLE',
    });
    expect(steps.find(({ step }) => step === 'connection')).toMatchObject({ outcome: 'skipped' });
  }, 60_000);

  test('a forbidden server and an unknown one are told alike', async () => {
    const forbidden = await ada(['doctor', 'staff', '--json']);
    const unknown = await ada(['doctor', 'nothing', '--json']);
    expect([forbidden.code, unknown.code]).toEqual([6, 6]);
    const times = /,?\s*"durationMs": \d+/g;
    const alike = ({ out }: { out: string }, name: string) =>
      out.replaceAll(times, '').replaceAll(name, 'it');
    expect(alike(forbidden, 'staff')).toBe(alike(unknown, 'nothing'));
  }, 60_000);

  test('without a key, or without its gateway, nothing is done and the code says so', async () => {
    expect((await createCli(gateway.url, 'bhf_wrong')(['mcp', 'list'])).code).toBe(4);
    expect((await ada(['mcp', 'list'], { env: { BEHALF_API_KEY: '' } })).code).toBe(4);
    expect((await ada(['mcp', 'list', '--url', nowhere])).code).toBe(3);
    // It listens and is no gateway.
    expect((await ada(['mcp', 'list', '--url', upstream.url])).code).toBe(3);
    expect((await ada(['mcp', 'reauth', 'files', '--everybody'])).code).toBe(4);
    expect((await root(['mcp', 'reauth', 'files', '--everybody', '--json'])).json()).toEqual({
      serverName: 'files',
      marked: 0,
    });
  }, 120_000);

  test('checks a configuration without a gateway', async () => {
    const file = join(dir, 'librechat.yaml');
    await writeFile(file, 'mcpServers:\n  a:\n    type: sse\n    url: https://${HOST}/sse\n');
    await writeFile(join(dir, '.env'), 'HOST=mcp.example\n');
    const offline = { env: { BEHALF_API_KEY: '', BEHALF_URL: '' }, cwd: dir };
    expect(await ada(['config', 'check'], offline)).toMatchObject({
      code: 0,
      out: './librechat.yaml is valid.\n',
    });
    await writeFile(file, 'mcpServers:\n  a:\n    tyep: sse\n    url: https://mcp.example\n');
    const wrong = await ada(['config', 'check', file], offline);
    expect(wrong.code).toBe(1);
    expect(wrong.out).toContain(`${file}:3  mcpServers.a.tyep  unknown key; did you mean "type"?`);
    expect((await ada(['config', 'check', file, '--json'], offline)).json()).toMatchObject({
      ok: false,
      errors: [{ path: 'mcpServers.a.tyep', line: 3 }],
    });
    expect((await ada(['config', 'check', join(dir, 'nothing.yaml')], offline)).code).toBe(2);
  }, 60_000);
});

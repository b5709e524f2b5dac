import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock, systemRandom } from '@behalf/kernel';
import { openSqliteStore } from '@behalf/stores/sqlite';
import { eventually } from '@behalf/testkit';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openDatabase } from '../../packages/stores/src/sqlite/database.ts';
import { createAdministrator } from './browser.ts';
import { createWorkspace, createScriptArgs, type GatewayWorkspace } from './gatewayProcess.ts';
import { everythingScript, createScriptedYaml, createServerYaml } from './scriptedYaml.ts';

describe('a running gateway', () => {
  let workspace: GatewayWorkspace;
  beforeEach(async () => {
    workspace = await createWorkspace();
  });
  afterEach(() => workspace.cleanUp());

  const openStore = () =>
    openSqliteStore({
      file: join(workspace.dir, 'data/behalf.db'),
      clock: systemClock,
      random: systemRandom,
    });

  test('SIGHUP swaps in a valid file and keeps the running one otherwise', async () => {
    const file = join(workspace.dir, 'librechat.yaml');
    const yaml = (name: string) => `mcpServers:\n${createServerYaml(name)}`;
    await writeFile(file, yaml('first'));
    const gateway = await workspace.start();
    const browser = await createAdministrator(gateway);
    const shown = async () => (await browser.get('/api/mcp/servers')).text();
    expect(await shown()).toContain('first');

    await writeFile(file, 'mcpServers: [');
    gateway.signal('SIGHUP');
    await eventually('the refusal to be logged', () =>
      gateway.output().includes('Configuration not reloaded'),
    );
    expect(await shown()).toContain('first');
    const refused = await browser.post('/api/admin/reload');
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ code: 'CONFIG_INVALID', errors: [{ line: 1 }] });

    await rm(file);
    expect((await browser.post('/api/admin/reload')).status).toBe(422);
    await mkdir(file);
    gateway.signal('SIGHUP');
    await eventually('the second refusal', () => gateway.output().includes('EISDIR'));
    expect(await shown()).toContain('first');
    await rm(file, { recursive: true });

    await writeFile(file, yaml('second'));
    gateway.signal('SIGHUP');
    await eventually('the reload', async () => (await shown()).includes('second'));
    await writeFile(file, yaml('third'));
    expect((await browser.post('/api/admin/reload')).status).toBe(200);
    expect(await shown()).toContain('third');
    await gateway.stop();
  }, 60_000);

  test('SIGTERM lets a call under way finish, then exits 0; a second one changes nothing', async () => {
    await writeFile(join(workspace.dir, 'librechat.yaml'), createScriptedYaml());
    const gateway = await workspace.start({ LOG_LEVEL: 'debug' });
    const browser = await createAdministrator(gateway);
    const call = browser.post('/api/mcp/servers/scripted/tools/slow/call', { arguments: { ms: 1_500 } });
    await eventually('the server to be asked', () => gateway.output().includes('asked slow'));
    gateway.signal('SIGTERM');
    gateway.signal('SIGTERM');
    expect((await call).status).toBe(200);
    expect(await gateway.waitForExit()).toBe(0);
    await expect(fetch(`${gateway.url}/ready`)).rejects.toThrow();
  }, 60_000);

  test('within ten seconds, whatever servers do: never answer, hang in a call, ignore every signal', async () => {
    await writeFile(
      join(workspace.dir, 'librechat.yaml'),
      createScriptedYaml() +
        createServerYaml('silent', { INIT: 'hang' }) +
        createServerYaml('stubborn', { STUBBORN: '1' }),
    );
    const gateway = await workspace.start({ LOG_LEVEL: 'debug' });
    const browser = await createAdministrator(gateway);
    const named = await browser.post('/api/mcp/servers/stubborn/tools/pid/call');
    const { content } = (await named.json()) as { content: { text: string }[] };
    const stubborn = Number(content[0]?.text);
    expect(isRunning(stubborn)).toBe(true);
    const calls = [
      browser.get('/api/mcp/tools'),
      browser.post('/api/mcp/servers/stubborn/tools/hang/call'),
      browser.post('/api/mcp/servers/scripted/tools/hang/call'),
    ];
    for (const call of calls) call.catch(() => undefined);
    await eventually(
      'both calls to be under way',
      () => (gateway.output().match(/asked hang/g) ?? []).length === 2,
    );
    gateway.signal('SIGTERM');
    let code: number | null | undefined;
    void gateway.waitForExit().then((ended) => (code = ended));
    await eventually('the exit', () => code !== undefined, 10_000);
    expect(code).toBe(0);
    await eventually('the end of what was started', () => !isRunning(stubborn));
  }, 60_000);

  test('in good order also while a server is being opened that never answers', async () => {
    await writeFile(
      join(workspace.dir, 'librechat.yaml'),
      `mcpServers:\n${createServerYaml('silent', { INIT: 'hang' })}`,
    );
    const gateway = await workspace.start({ LOG_LEVEL: 'debug' });
    const browser = await createAdministrator(gateway);
    const call = browser.post('/api/mcp/servers/silent/tools/echo/call').catch(() => undefined);
    await eventually('the server to be started', () => gateway.output().includes('started'));
    gateway.signal('SIGTERM');
    expect(await gateway.waitForExit()).toBe(0);
    await call;
    expect(gateway.output()).toContain('"event":"Stopped"');
  }, 60_000);

  test('a copy refuses while a gateway runs, and no gateway starts while the store is held', async () => {
    const gateway = await workspace.start();
    const target = `sqlite:${join(workspace.dir, 'copy.db')}`;
    const copy = createScriptArgs('store', 'copy', '--from', 'sqlite:data/behalf.db', '--to', target);
    const refused = await workspace.runToExit({}, copy);
    expect(refused.code).toBe(1);
    expect(refused.output).toContain('Stop every gateway');
    await gateway.stop();
    const copied = await workspace.runToExit({}, copy);
    expect(copied.output).toContain('Copied and verified');
    expect(copied.code).toBe(0);
    const store = await openStore();
    await store.system.beginMaintenance('somebody', 60_000);
    const held = await workspace.runToExit();
    expect(held.code).toBe(75);
    expect(held.output).toContain('in maintenance');
    await store.system.endMaintenance('somebody');
    await store.close();
  }, 60_000);

  test('a gateway whose store was taken while it was out of touch stops writing and ends with 75', async () => {
    const gateway = await workspace.start();
    // As if it had been paused for longer than its sign of life lasts.
    const db = await openDatabase(join(workspace.dir, 'data/behalf.db'), {
      clock: systemClock,
      random: systemRandom,
    });
    await db.write((tx) => tx.run('DELETE FROM writers'));
    await db.close();
    const store = await openStore();
    await store.system.beginMaintenance('somebody', 60_000);
    await store.close();
    expect(await gateway.waitForExit()).toBe(75);
    expect(gateway.output()).toContain('the store is in maintenance');
  }, 60_000);

  test('a server that cannot be kept apart as it is written is not offered, and the log says why', async () => {
    // A token of ours, for a server that everybody has another conversation with.
    const mixed = `  mixed:
    type: streamable-http
    url: https://mixed.example/mcp
    headers: { X-User: '{{LIBRECHAT_USER_ID}}' }
    oauth: { grant: client_credentials, token_url: 'https://as.example/token', client_id: a, client_secret: b }
`;
    await writeFile(join(workspace.dir, 'librechat.yaml'), createScriptedYaml() + mixed);
    const gateway = await workspace.start();
    const browser = await createAdministrator(gateway);
    const { servers } = (await (await browser.get('/api/mcp/tools')).json()) as { servers: object };
    expect(Object.keys(servers)).toEqual(['scripted']);
    const home = await (await browser.get('/')).text();
    expect(gateway.output()).toMatch(
      /"mixed"[^\n]*client_credentials requires a server that all users share/,
    );
    expect((await browser.post(`/api/mcp/servers/mixed/tools/echo/call`)).status).toBe(404);
    expect(home).not.toContain('mixed');
    await gateway.stop();
  }, 60_000);

  test('who may see a server and which tools exist follows the file, also when it is read again', async () => {
    const guarded = (role: string) => createServerYaml('guarded', {}, `access: { roles: [${role}] }`);
    const write = (text: string) => writeFile(join(workspace.dir, 'librechat.yaml'), text);
    await write(createScriptedYaml() + guarded('GUEST'));
    const gateway = await workspace.start();
    const browser = await createAdministrator(gateway);
    const call = async (name: string) =>
      (await browser.post(`/api/mcp/servers/${name}/tools/echo/call`)).status;
    const seen = async () => {
      const { servers } = (await (await browser.get('/api/mcp/tools')).json()) as { servers: object };
      return Object.keys(servers);
    };
    expect([await seen(), await call('guarded')]).toEqual([['scripted'], 404]);
    const denied = `endpoints:\n  agents:\n    toolApproval:\n      deny: ['mcp:scripted:echo']\n`;
    await write(createScriptedYaml() + guarded('ADMIN') + denied);
    expect((await browser.post('/api/admin/reload')).status).toBe(200);
    expect(await seen()).toEqual(['scripted', 'guarded']);
    expect([await call('guarded'), await call('scripted')]).toEqual([200, 404]);
    await gateway.stop();
  }, 60_000);

  test('a server of the file gets PATH and HOME of ours and what it names, and no key', async () => {
    const yaml = `mcpServers:\n  sample:\n    command: ${JSON.stringify(process.execPath)}\n    args: [${JSON.stringify(everythingScript)}, stdio]\n    env: { OWN: value }\n`;
    await writeFile(join(workspace.dir, 'librechat.yaml'), yaml);
    const gateway = await workspace.start({ CREDS_KEY: 'c'.repeat(64), HOME: workspace.dir, OTHER: 'x' });
    const browser = await createAdministrator(gateway);
    const call = await browser.post('/api/mcp/servers/sample/tools/get-env/call');
    const { content } = (await call.json()) as { content: { text: string }[] };
    expect(JSON.parse(content[0]?.text ?? '')).toEqual({
      PATH: process.env['PATH'],
      HOME: workspace.dir,
      OWN: 'value',
    });
    await gateway.stop();
  }, 60_000);

  test('librechat.yaml.example is not only valid: its server works', async () => {
    const root = fileURLToPath(new URL('../../', import.meta.url));
    await symlink(join(root, 'node_modules'), join(workspace.dir, 'node_modules'));
    const gateway = await workspace.start({ CONFIG_PATH: join(root, 'librechat.yaml.example') });
    const browser = await createAdministrator(gateway);
    const call = await browser.post('/api/mcp/servers/everything/tools/echo/call', {
      arguments: { message: 'hi' },
    });
    expect(await call.json()).toMatchObject({ content: [{ text: 'Echo: hi' }] });
    await gateway.stop();
  }, 60_000);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

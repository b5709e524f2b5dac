import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@behalf/testkit';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { adaAccount, createBrowser, setupTokenOf } from './browser.ts';
import { createWorkspace, createScriptArgs, type GatewayWorkspace } from './gatewayProcess.ts';

describe('starting a gateway', () => {
  let workspace: GatewayWorkspace;
  beforeEach(async () => {
    workspace = await createWorkspace();
  });
  afterEach(() => workspace.cleanUp());

  test('an empty directory becomes a gateway with an administrator and tools', async () => {
    const gateway = await workspace.start();
    const ready = await fetch(`${gateway.url}/ready`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toMatchObject({
      status: 'ready',
      stores: { primary: 'sqlite', coordination: 'sqlite' },
      missing: [],
    });
    expect(await (await fetch(`${gateway.url}/health`)).json()).toEqual({ status: 'ok' });

    const browser = createBrowser(gateway.url);
    const created = await browser.post('/api/auth/setup', {
      token: setupTokenOf(gateway.setupLink),
      ...adaAccount,
    });
    expect(created.status).toBe(201);
    expect(await created.json()).toMatchObject({ user: { email: adaAccount.email, role: 'ADMIN' } });
    const tools = (await (await browser.get('/api/mcp/tools')).json()) as {
      servers: Record<string, { tools: { name: string }[]; state: string }>;
    };
    expect(tools.servers['everything']?.state).toBe('connected');
    expect(tools.servers['everything']?.tools.map((tool) => tool.name)).toContain('echo');
    const call = await browser.post('/api/mcp/servers/everything/tools/echo/call', {
      arguments: { message: 'hello' },
    });
    expect(await call.json()).toMatchObject({ content: [{ type: 'text', text: 'Echo: hello' }] });
    expect((await browser.post('/api/mcp/servers/everything/tools/nothing/call')).status).toBe(404);
    expect((await browser.post('/api/mcp/servers/nothing/tools/echo/call')).status).toBe(404);
    expect(await gateway.stop()).toBe(0);
  }, 60_000);

  test('a restart keeps accounts and sessions, and offers no second link', async () => {
    const first = await workspace.start();
    const browser = createBrowser(first.url);
    await browser.post('/api/auth/setup', { token: setupTokenOf(first.setupLink), ...adaAccount });
    expect(await first.stop()).toBe(0);
    const second = await workspace.start();
    expect(second.setupLink).toBeNull();
    const again = createBrowser(second.url);
    for (const [name, value] of browser.cookies) again.cookies.set(name, value);
    expect((await again.get('/api/user')).status).toBe(200);
    const login = await createBrowser(second.url).post('/api/auth/login', {
      email: adaAccount.email,
      password: adaAccount.password,
    });
    expect(login.status).toBe(200);
  }, 60_000);

  test('the key and the database are readable by their owner alone', async () => {
    const gateway = await workspace.start();
    for (const [name, mode] of [
      ['data', 0o700],
      ['data/creds.key', 0o600],
      ['data/behalf.db', 0o600],
    ] as const) {
      expect((await stat(join(workspace.dir, name))).mode & 0o777).toBe(mode);
    }
    await gateway.stop();
  }, 60_000);

  test('with an identity provider no link is offered', async () => {
    const gateway = await workspace.start({
      OPENID_ISSUER: 'https://idp.example',
      OPENID_CLIENT_ID: 'behalf',
    });
    expect(gateway.setupLink).toBeNull();
    expect(gateway.output()).not.toContain('/setup?token=');
    await gateway.stop();
  }, 60_000);

  test('the sample server is not offered to a network', async () => {
    const gateway = await workspace.start({ HOST: '0.0.0.0' });
    expect(gateway.output()).toContain('running without servers');
    const { url } = gateway;
    const browser = createBrowser(url.replace('0.0.0.0', '127.0.0.1'));
    await browser.post(
      '/api/auth/setup',
      { token: setupTokenOf(gateway.setupLink), ...adaAccount },
      { 'x-behalf-csrf': '1' },
    );
    expect(await (await browser.get('/api/mcp/tools')).json()).toEqual({ servers: {} });
    await gateway.stop();
  }, 60_000);

  const invalid = [
    [
      'a misspelt key',
      'mcpServers:\n  github:\n    type: streamable-http\n    url: https://mcp.example.com\n    requiresOauth: true\n',
      /mcpServers\.github\.requiresOauth.*requiresOAuth/s,
    ],
    [
      'a wrong type',
      'mcpServers:\n  github:\n    type: streamable-http\n    url: https://mcp.example.com\n    timeout: soon\n',
      /mcpServers\.github\.timeout/,
    ],
    [
      'a public address where only private ones are opened',
      "mcpSettings:\n  allowedAddresses: ['8.8.8.8:443']\n",
      /mcpSettings\.allowedAddresses\[0\]/,
    ],
    [
      'obo on stdio',
      'mcpServers:\n  local:\n    command: node\n    obo:\n      scopes: api/read\n',
      /mcpServers\.local\.obo/,
    ],
  ] as const;
  for (const [what, yaml, message] of invalid) {
    test(`${what}: exit code 78, one message with path and suggestion`, async () => {
      await writeFile(join(workspace.dir, 'librechat.yaml'), yaml);
      const { code, output } = await workspace.runToExit();
      expect(code).toBe(78);
      expect(output).toMatch(message);
      expect(output).toContain('librechat.yaml:');
      expect(output).not.toMatch(/\n\s+at /);
      // Nothing was opened or created for a configuration that cannot run.
      await expect(stat(join(workspace.dir, 'data'))).rejects.toThrow('ENOENT');
    }, 60_000);
  }

  test('a named file that is missing, and a bad variable', async () => {
    const missing = await workspace.runToExit({ CONFIG_PATH: './elsewhere.yaml' });
    expect(missing.code).toBe(78);
    expect(missing.output).toContain('elsewhere.yaml');
    const variable = await workspace.runToExit({ PORT: 'http', OPENID_ISUER: 'https://idp.example' });
    expect(variable.code).toBe(78);
    expect(variable.output).toContain('PORT');
    expect(variable.output).toMatch(/OPENID_ISUER.*OPENID_ISSUER/s);
  }, 60_000);

  test('a replica with another key does not start', async () => {
    const first = await workspace.start({ CREDS_KEY: 'a'.repeat(64) });
    await first.stop();
    const { code, output } = await workspace.runToExit({ CREDS_KEY: 'b'.repeat(64) });
    expect(code).toBe(78);
    expect(output).toContain('CREDS_KEY is not the key this store was sealed with');
    const rotated = await workspace.start({ CREDS_KEY: `${'b'.repeat(64)},${'a'.repeat(64)}` });
    expect(await rotated.stop()).toBe(0);
  }, 60_000);

  test('with MongoDB or Redis the key must be given', async () => {
    const { code, output } = await workspace.runToExit({ MONGO_URI: 'mongodb://127.0.0.1:9/behalf' });
    expect(code).toBe(78);
    expect(output).toContain('CREDS_KEY');
  }, 60_000);

  test('a broken key file and a store that is away end the start with words, a code and no stack', async () => {
    await mkdir(join(workspace.dir, 'data'));
    await writeFile(join(workspace.dir, 'data/creds.key'), 'not a key');
    const key = await workspace.runToExit();
    expect(key.code).toBe(78);
    expect(key.output).toContain('does not hold 64 hex characters');
    const env = { CREDS_KEY: 'a'.repeat(64), MONGO_URI: 'mongodb://user:pl4nted@127.0.0.1:9/behalf' };
    const mongo = await workspace.runToExit(env);
    expect(mongo.code).toBe(75);
    expect(mongo.output).toContain('No response from the MongoDB of MONGO_URI');
    await rm(join(workspace.dir, 'data'), { recursive: true });
    const runningGateway = await workspace.start();
    const port = new URL(runningGateway.url).port;
    const second = await workspace.runToExit({ PORT: port });
    expect(second.code).toBe(1);
    expect(second.output).toContain(`Port ${port} on 127.0.0.1 is already in use`);
    for (const { output } of [key, mongo, second]) {
      expect(output).not.toMatch(/\n\s+at /);
      expect(output).not.toContain('pl4nted');
    }
    await runningGateway.stop();
  }, 60_000);

  test('an account made on the command line signs in, its password from standard input', async () => {
    const made = await workspace.runToExit(
      {},
      createScriptArgs('createUser', '--email', 'a@b.c', '--role', 'ADMIN'),
      'correct horse battery\n',
    );
    expect(made).toMatchObject({ code: 0 });
    const gateway = await workspace.start();
    expect(gateway.setupLink).toBeNull();
    const browser = createBrowser(gateway.url);
    const login = await browser.post('/api/auth/login', {
      email: 'A@B.C',
      password: 'correct horse battery',
    });
    expect(await login.json()).toMatchObject({ user: { email: 'a@b.c', role: 'ADMIN' } });
    const twice = await workspace.runToExit(
      {},
      createScriptArgs('createUser', '--email', 'a@b.c'),
      'correct horse battery\n',
    );
    expect(twice).toMatchObject({ code: 1 });
    expect(twice.output).toContain('An account with this email exists');
    await gateway.stop();
  }, 60_000);

  test('a role given or taken on the command line counts within two seconds', async () => {
    await workspace.runToExit(
      {},
      createScriptArgs('createUser', '--email', 'a@b.c'),
      'correct horse battery\n',
    );
    const gateway = await workspace.start();
    const browser = createBrowser(gateway.url);
    await browser.post('/api/auth/login', { email: 'a@b.c', password: 'correct horse battery' });
    expect((await browser.post('/api/admin/reload')).status).toBe(403);
    const result = await workspace.runToExit(
      {},
      createScriptArgs('setRole', '--email', 'a@b.c', '--role', 'ADMIN'),
    );
    expect(result.output).toContain('is now ADMIN');
    const answers = (status: number) =>
      eventually(
        `status ${status}`,
        async () => (await browser.post('/api/admin/reload')).status === status,
        // The bound is the promise; the rest is for a busy machine.
        5_000,
      );
    await answers(200);
    await workspace.runToExit(
      {},
      createScriptArgs('setRole', '--email', 'a@b.c', '--role', 'USER', '--force'),
    );
    await answers(403);
    await gateway.stop();
  }, 60_000);

  test('no password, key, cookie or link secret stands in the log', async () => {
    const key = 'c0ffee'.repeat(10) + 'abcd';
    const gateway = await workspace.start({ CREDS_KEY: key, LOG_LEVEL: 'debug' });
    const browser = createBrowser(gateway.url);
    const token = setupTokenOf(gateway.setupLink);
    await browser.post('/api/auth/setup', { token, ...adaAccount });
    await createBrowser(gateway.url).post('/api/auth/login', {
      email: adaAccount.email,
      password: 'wrong-password-planted',
    });
    await browser.get('/api/mcp/tools');
    await gateway.stop();
    const logged = gateway
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .join('\n');
    const [cookie = ''] = browser.cookies.values();
    expect(cookie.length).toBeGreaterThan(20);
    for (const secret of [key, token, adaAccount.password, 'wrong-password-planted', cookie]) {
      expect(logged).not.toContain(secret);
    }
    expect(logged).toContain('Sign-in refused');
  }, 60_000);

  test('a .env file fills in what the process was not given, and no more', async () => {
    await writeFile(join(workspace.dir, '.env'), 'BEHALF_DATA_DIR=./elsewhere\nLOG_LEVEL=nonsense\n');
    const gateway = await workspace.start({ LOG_LEVEL: 'info' });
    expect((await stat(join(workspace.dir, 'elsewhere/behalf.db'))).isFile()).toBe(true);
    await gateway.stop();
  }, 60_000);

  test('a file with every section of LibreChat boots, and what has no effect is named once', async () => {
    const file = fileURLToPath(new URL('../fixtures/librechat-all-sections.yaml', import.meta.url));
    const gateway = await workspace.start({ CONFIG_PATH: file, OPENAI_API_KEY: 'planted-and-unused' });
    expect((await fetch(`${gateway.url}/ready`)).status).toBe(200);
    const named = gateway.output().match(/LibreChat settings without effect in Behalf/g);
    expect(named).toHaveLength(1);
    expect(gateway.output()).toMatch(/"keys":\[[^\]]*"modelSpecs"/);
    expect(gateway.output()).toContain('OPENAI_API_KEY');
    expect(gateway.output()).not.toContain('planted-and-unused');
    await gateway.stop();
  }, 60_000);

  test('a data directory of another storage format is refused with one sentence and exit code 78', async () => {
    const first = await workspace.start();
    await first.stop();
    const { default: Libsql } = await import('libsql');
    const setFormat = (format: number) => {
      const db = new Libsql(join(workspace.dir, 'data/behalf.db'));
      db.exec(`PRAGMA user_version = ${format}`);
      db.close();
    };
    for (const [format, reason] of [
      [
        10,
        /^The data directory .*data uses storage format 10 of an earlier preview\. This version reads format 100 only\. Start with an empty BEHALF_DATA_DIR\.$/m,
      ],
      [
        101,
        /^The data directory .*data was written by a newer version of Behalf \(storage format 101, .*\)\. Start that version, or restore a backup\.$/m,
      ],
    ] as const) {
      setFormat(format);
      const { code, output } = await workspace.runToExit();
      expect(code).toBe(78);
      expect(output).toMatch(reason);
      expect(output).not.toMatch(/\n\s+at /);
    }
    setFormat(100);
    const again = await workspace.start();
    expect(await again.stop()).toBe(0);
  }, 60_000);
});

import { CredentialsView } from '@behalf/contracts';
import { eventually } from '@behalf/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createCli, createApiKey, type Cli, type CommandResult, type RunningCommand } from './cliRig.ts';
import { startInProcess } from './inProcess.ts';
import { GatewayBrowser, readLocation, createOAuthRig, type OAuthRig } from './oauthRig.ts';
import { createUsers, connectUser } from './users.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

interface Diagnosed {
  readonly ok: boolean;
  readonly failedAt?: string;
  readonly steps: readonly { readonly step: string; readonly outcome: string; readonly code?: string }[];
}

describe('the command behalf, where users sign in', () => {
  let rig: OAuthRig;
  let ada: Cli;
  let root: Cli;
  /** Everything that was printed, by every command of these tests. */
  const printed: CommandResult[] = [];

  beforeAll(async () => {
    rig = await createOAuthRig();
    const spoken = (command: Cli): Cli =>
      Object.assign(async (...of: Parameters<Cli>) => {
        const ended = await command(...of);
        printed.push(ended);
        return ended;
      }, command);
    ada = spoken(createCli(rig.gateway.url, await createApiKey(rig.ada, 'mcp', 'servers')));
    root = spoken(createCli(rig.gateway.url, await createApiKey(rig.admin, 'mcp', 'admin')));
  }, 60_000);
  afterAll(() => rig.close());
  afterEach(async () => {
    rig.as.change({ consent: 'approve' });
    await rig.ada.post('/api/mcp/oauth/cancel/files');
    await rig.ada.post('/api/mcp/files/oauth/disconnect');
  });

  /** The address that a waiting command shows. */
  const addressIn = (command: RunningCommand) =>
    eventually('the address', () => /^ {2}(http\S+)$/m.exec(command.err())?.[1], 30_000);

  /** What its user does with it: says yes to our page, then whatever the authorization server is set to. */
  async function goOn(connectUrl: string): Promise<URL> {
    const browser = new GatewayBrowser(rig.gateway.url, rig.ada);
    const page = await (await browser.open(connectUrl)).text();
    const field = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
    const left = await browser.submitForm('/api/mcp/files/oauth/initiate', {
      flowId: field('flowId'),
      token: field('token'),
    });
    const back = await browser.open(readLocation(left));
    return readLocation(await browser.open(readLocation(back)));
  }

  async function login(...more: string[]): Promise<CommandResult> {
    const command = ada.start(['mcp', 'login', 'files', '--json', ...more]);
    await goOn(await addressIn(command));
    const ended = await command.result;
    printed.push(ended);
    return ended;
  }

  const diagnosed = async (): Promise<Diagnosed & { code: number | null }> => {
    const ended = await ada(['doctor', 'files', '--json']);
    return { ...(ended.json() as Diagnosed), code: ended.code };
  };
  const held = async () =>
    CredentialsView.parse(await (await rig.ada.get('/api/mcp/files/credentials')).json()).credentials[0];

  test('login waits until the token has landed and the server took it', async () => {
    const before = await diagnosed();
    expect(before).toMatchObject({ code: 5, failedAt: 'credential' });
    const steps = new Map(before.steps.map(({ step, outcome }) => [step, outcome]));
    for (const step of ['server', 'metadata', 'authorization_server', 'client'])
      expect([step, steps.get(step)]).toEqual([step, 'ok']);
    // Nothing was begun for it.
    expect(rig.as.counters).toMatchObject({ registrations: 0, authorizations: 0, tokenHits: 0 });
    expect((await ada(['mcp', 'call', 'files', 'echo'])).code).toBe(5);

    const ended = await login();
    expect([ended.code, ended.json()]).toEqual([
      0,
      expect.objectContaining({ signedIn: true, probe: 'ok', serverName: 'files' }),
    ]);
    const { credential } = ended.json() as { credential: { fingerprint: string } };
    expect(credential.fingerprint).toBe((await held())?.fingerprint);
    expect(await diagnosed()).toMatchObject({ code: 0, ok: true });
    expect((await ada(['mcp', 'call', 'files', 'echo'])).code).toBe(0);
    const listed = await ada(['mcp', 'token', 'list']);
    expect(listed.out).toContain(credential.fingerprint);
  }, 120_000);

  test('a sign-in that is denied leaves the one before as it was', async () => {
    expect((await login()).code).toBe(0);
    const before = await held();
    rig.as.change({ consent: 'deny' });
    const denied = await login();
    expect([denied.code, denied.json()]).toEqual([
      1,
      expect.objectContaining({ signedIn: false, error: 'access_denied' }),
    ]);
    expect((await held())?.fingerprint).toBe(before?.fingerprint);
    expect((await ada(['mcp', 'call', 'files', 'echo'])).code).toBe(0);
  }, 120_000);

  test('Ctrl-C cancels what was begun', async () => {
    const command = ada.start(['mcp', 'login', 'files']);
    const address = await addressIn(command);
    command.interrupt();
    expect((await command.result).code).toBe(130);
    const refused = await new GatewayBrowser(rig.gateway.url, rig.ada).open(address);
    expect(refused.status).toBeGreaterThanOrEqual(400);
  }, 60_000);

  test('a second login goes on with the first, and both end well', async () => {
    const first = ada.start(['mcp', 'login', 'files']);
    const address = await addressIn(first);
    const second = ada.start(['mcp', 'login', 'files', '--timeout', '60']);
    expect(await addressIn(second)).toBe(address);
    await goOn(address);
    const ended = await Promise.all([first.result, second.result]);
    printed.push(...ended);
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    expect(ended[1].err).toContain('already in progress');
    expect(ended[0].out).toMatch(
      /^Signed in at files\. default: [\w-]{8}, .*\nThe server accepts the new token\.\n$/,
    );
  }, 90_000);

  test('logout says what the authorization server answered', async () => {
    await login();
    expect((await ada(['mcp', 'logout', 'files', '--json'])).json()).toEqual({
      ...{ serverName: 'files', disconnected: true, revoked: 'yes' },
    });
    await login();
    rig.as.change({ revocation: 'fail' });
    const failed = await ada(['mcp', 'logout', 'files']);
    rig.as.change({ revocation: 'token' });
    expect([failed.code, failed.out]).toEqual([1, expect.stringContaining('did not confirm')]);
    expect((await ada(['mcp', 'logout', 'files'])).out).toBe('You were not signed in at files.\n');
  }, 120_000);

  test('reauth signs in where it is needed, and an administrator makes everybody do so', async () => {
    await login();
    expect((await ada(['mcp', 'reauth', '--all'])).out).toBe('No server requires your sign-in.\n');
    const marked = await root(['mcp', 'reauth', 'files', '--everybody', '--json']);
    expect([marked.code, marked.json()]).toEqual([0, { serverName: 'files', marked: 1 }]);
    const command = ada.start(['mcp', 'reauth', '--all', '--json']);
    await goOn(await addressIn(command));
    const ended = await command.result;
    expect([ended.code, ended.json()]).toEqual([
      0,
      { servers: [expect.objectContaining({ signedIn: true })] },
    ]);
    for (const argv of [[], ['--all', 'files'], ['--everybody']])
      expect((await ada(['mcp', 'reauth', ...argv])).code).toBe(2);
  }, 120_000);

  test('a token that was imported is used by every running gateway within 2 s', async () => {
    const { as, mcp } = rig;
    // Another gateway over the same store, which knows that Ada has nothing there.
    const other = await startInProcess(
      { BEHALF_DATA_DIR: rig.gateway.dataDir },
      renderYaml({ files: httpDefinition(mcp.url, { requiresOAuth: true }) }),
    );
    const there = connectUser(other.url, rig.ada.id, rig.ada.cookie.split('=')[1] ?? '');
    expect((await there.call('files', 'echo')).body._meta).toBeDefined();
    as.addClient({ clientId: 'elsewhere', authMethod: 'none' });
    const brought = as.grant({ clientId: 'elsewhere', resource: mcp.url });
    expect((await ada(['mcp', 'token', 'import', 'files'], { stdin: brought.accessToken })).code).toBe(2);
    const stored = await ada(
      ['mcp', 'token', 'import', 'files', '--stdin', '--expires-in', '600', '--json'],
      {
        stdin: `${brought.accessToken}\n`,
      },
    );
    expect([stored.code, stored.json()]).toEqual([
      0,
      {
        credential: expect.objectContaining({
          kind: 'static',
          status: 'active',
          fingerprint: expect.any(String),
        }),
        probe: 'ok',
      },
    ]);
    for (const one of [rig.ada, there]) {
      await eventually(
        'a call with it',
        async () => (await one.call('files', 'echo')).body._meta === undefined,
        2_000,
      );
    }
    await other.close();
    expect(mcp.guardedRequests.at(-1)).toMatchObject({ status: 'served', bearer: brought.accessToken });
  }, 60_000);

  test('an administrator sees why it does not work for somebody else, without acting for them, and it is written down', async () => {
    const { mcp, as, admin, gateway } = rig;
    const who = rig.ada.id;
    const before = await root(['mcp', 'test', 'files', '--as', who, '--json']);
    expect([before.code, before.json()]).toEqual([
      5,
      expect.objectContaining({ as: who, ok: false, failedAt: 'credential' }),
    ]);
    await login();
    const [visits, refreshes] = [mcp.guardedRequests.length, as.counters.refreshHits];
    const { email } = (await (await rig.ada.get('/api/user')).json()) as { email: string };
    const after = await root(['mcp', 'test', 'files', '--as', email]);
    expect([after.code, after.out]).toEqual([0, expect.stringContaining('You are signed in at the server')]);
    expect(after.out).toContain('without acting as this user');
    // It was asked, with nothing in hand.
    const seen = mcp.guardedRequests.slice(visits);
    expect(seen.filter(({ bearer }) => bearer !== undefined && bearer !== null)).toEqual([]);
    expect(as.counters.refreshHits).toBe(refreshes);

    const bob = createCli(gateway.url, await createApiKey(rig.bob, 'mcp', 'servers'));
    expect((await bob(['mcp', 'test', 'files', '--as', who])).code).toBe(4);
    // An administrator's key without the scope.
    const narrow = createCli(gateway.url, await createApiKey(admin, 'mcp', 'servers'));
    expect((await narrow(['mcp', 'test', 'files', '--as', who])).code).toBe(4);
    for (const unknownUser of ['nobody', 'nobody@example.com'])
      expect((await root(['mcp', 'test', 'files', '--as', unknownUser])).code).toBe(6);

    const events = await eventually('the events', async () => {
      const { events: found } = (await (
        await admin.get('/api/admin/audit?action=credential.diagnose')
      ).json()) as { events: { subject?: string; server?: string; actor: { id: string } }[] };
      return found.length >= 2 ? found : undefined;
    });
    expect(events).toHaveLength(2);
    for (const event of events)
      expect(event).toMatchObject({ subject: who, server: 'files', actor: { id: admin.id } });
  }, 120_000);

  test('a server where users sign in is added as its options and its file say, and signed in at', async () => {
    const { as, mcp } = rig;
    const own = await startInProcess(
      { RATE_LIMIT_WRITES: '100000' },
      JSON.stringify({
        mcpSettings: { allowedAddresses: [as.issuer, mcp.url].map((url) => new URL(url).host) },
        mcpServers: {},
        interface: { mcpServers: { use: true, create: true, share: true } },
      }),
    );
    const [cleo] = await createUsers(own, ['Cleo']);
    if (!cleo) throw new Error('Nobody is here');
    const add = createCli(own.url, await createApiKey(cleo, 'mcp', 'servers'));
    const oauthOf = async (name: string) =>
      ((await (await cleo.get(`/api/mcp/servers/${name}`)).json()) as { oauth?: object }).oauth;
    try {
      for (const [title, options, stored] of [
        ['Bare', ['--oauth'], {}],
        ['Named', ['--client-id', 'cli-1'], { client_id: 'cli-1' }],
        ['Wide', ['--scope', 'read write'], { scope: 'read write' }],
      ] as const) {
        const ended = await add(['mcp', 'add', title, '--server-url', mcp.url, ...options, '--json']);
        const serverName = title.toLowerCase();
        expect([ended.code, ended.json()]).toEqual([0, { added: true, serverName, requiresOAuth: true }]);
        expect(await oauthOf(serverName)).toMatchObject(stored);
      }
      const file = JSON.stringify({ url: mcp.url, oauth: { issuer: as.issuer, scope: 'read' } });
      const laid = await add(['mcp', 'add', 'Laid', '--config', '-', '--scope', 'write'], { stdin: file });
      expect([laid.code, laid.out]).toEqual([0, expect.stringContaining('behalf mcp login laid')]);
      expect(await oauthOf('laid')).toMatchObject({ issuer: as.issuer, scope: 'write' });
      const startResponse = await cleo.post('/api/mcp/bare/oauth/start', {});
      expect(startResponse.status).toBe(201);
    } finally {
      await own.close();
    }
  }, 120_000);

  test('no token, code or key is printed by any of it', async () => {
    await login();
    const { accessToken } = rig.as.grant({
      clientId: rig.as.clientIds[0] ?? '',
      resource: rig.mcp.url,
    });
    const stdin = JSON.stringify({ access_token: accessToken, expires_in: 60 });
    const bring = ['mcp', 'token', 'import', 'files', '--stdin', '--label', 'other'];
    const done = await Promise.all([
      ...[[], ['--json']].map((json) => ada([...bring, ...json], { stdin })),
      ...[
        ['mcp', 'token', 'list'],
        ['mcp', 'test', 'files', '--json'],
        ['doctor', 'files', '--json'],
      ].map((argv) => ada(argv)),
    ]);
    expect(done.map(({ code }) => code)).not.toContain(2);
    const all = printed.map(({ out, err }) => out + err).join('\n');
    expect(rig.as.secrets.length).toBeGreaterThan(2);
    expect(rig.as.secrets.filter((secret) => all.includes(secret))).toEqual([]);
    expect(all).not.toContain('bhf_');
  }, 120_000);
});

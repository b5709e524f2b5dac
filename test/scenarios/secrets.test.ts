import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { OutputPiece } from './collectedOutput.ts';
import { encodedForms } from './plantedSecrets.ts';
import { accessMatrix } from './accessMatrix.ts';
import {
  requestEveryRoute,
  createRequestSender,
  plantServers,
  allowedSecretsFor,
  type SendRequest,
  type PlantedServers,
} from './secretsPlanting.ts';
import { FAILURE_COUNT, markers, startSecretsRig, type SecretsRig } from './secretsRig.ts';

describe('secrets that people and operators gave', () => {
  let rig: SecretsRig;
  let ask: SendRequest;
  let servers: PlantedServers;
  let answers: readonly OutputPiece[];
  let logged: OutputPiece[];
  let audit: string;
  let records: OutputPiece[];
  let files: OutputPiece[];

  beforeAll(async () => {
    rig = await startSecretsRig();
    ask = createRequestSender(rig);
    servers = await plantServers(rig, ask);
    await useTools();
    rig.repeatCredentials();
    await askParrots();
    await signIn();
    await requestEveryRoute(rig, ask, servers);
    audit = await eventually('the events to be written', async () => {
      const { body } = await ask('admin', 'GET /api/admin/audit/export');
      return body.includes('"tool.call"') && body;
    });
    ({ answers, logged } = { answers: rig.output.responses(), logged: rig.output.listLogLines() });
    records = await rig.output.readRecords();
    files = await rig.output.readFiles();
  }, 120_000);
  afterAll(() => rig.close());

  const call = (name: string, tool: string, query = '') => {
    const route = `POST /api/mcp/servers/${name}/tools/${tool}/call${query}`;
    const body = { arguments: { text: rig.callSecrets.argument } };
    return ask('owner', route, { body, allowedSecrets: allowedSecretsFor(route, rig) });
  };
  const reinitialize = (name: string) => ask('owner', `POST /api/mcp/${name}/reinitialize`, { body: {} });

  /** With a secret in what is sent and in what comes back. */
  async function useTools(): Promise<void> {
    for (const name of servers.names) {
      for (const query of ['', '?format=openai', '?format=anthropic']) await call(name, 'echo', query);
      await call(name, 'asked');
      await reinitialize(name);
    }
    const { body } = await ask('owner', 'GET /api/mcp/approvals');
    const { approvals } = JSON.parse(body) as { approvals: { id: string; server: string }[] };
    expect(approvals.length).toBeGreaterThan(0);
    for (const { id, server } of approvals) {
      await ask('owner', `POST /api/mcp/approvals/${id}`, { body: { approve: true } });
      expect((await call(server, 'asked')).status).toBe(200);
    }
  }

  /** So often that each way of failing has its turn. At once: after a failure the next attempt is made to wait. */
  async function askParrots(): Promise<void> {
    const often = async (work: () => Promise<unknown>) => {
      for (let turn = 0; turn < FAILURE_COUNT; turn += 1) await work();
    };
    const config = { ...servers.definition, url: rig.parrot.url };
    await Promise.all([
      ...servers.echoServers.flatMap((name) => [
        often(() => call(name, 'echo')),
        often(() => reinitialize(name)),
      ]),
      often(() => ask('owner', 'POST /api/mcp/servers', { body: { config } })),
    ]);
  }

  /** In every way there is. */
  async function signIn(): Promise<void> {
    const { plantedSecrets, password, bearer, metricsToken, visitor, gateway } = rig;
    const keep = (name: string, headers: Headers) => {
      const secret = /behalf_session=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? '';
      plantedSecrets.add(name, secret);
      return secret;
    };
    const login = await ask(null, 'POST /api/auth/login', {
      body: password,
      allowedSecrets: { allowsCookie: true },
    });
    const cookie = `behalf_session=${keep('cookie of a login', login.headers)}`;
    const name = { name: 'laptop', scopes: ['mcp', 'servers'] };
    const made = await ask(null, 'POST /api/user/keys', {
      body: name,
      headers: { cookie },
      allowedSecrets: allowedSecretsFor('POST /api/user/keys', rig),
    });
    const { key } = JSON.parse(made.body) as { key: string };
    for (const token of [key, bearer, metricsToken]) {
      for (const path of [
        '/api/user',
        '/api/mcp/servers',
        '/api/user/keys',
        '/metrics',
        '/api/admin/users',
      ]) {
        await ask(null, `GET ${path}`, { headers: { authorization: `Bearer ${token}` } });
      }
    }
    await ask(null, 'POST /api/auth/logout', { headers: { cookie } });
    const startResponse = await ask(null, 'GET /oauth/openid');
    const back = await visitor.signIn(startResponse.headers.get('location') ?? '', 'carol');
    const flow = startResponse.headers.get('set-cookie')?.split(';')[0] ?? '';
    const done = await ask(null, `GET ${back.pathname}${back.search}`, {
      headers: { cookie: flow },
      allowedSecrets: { allowsCookie: true },
    });
    keep('cookie of a login at the provider', done.headers);
    expect([
      startResponse.status,
      done.status,
      new URL(done.headers.get('location') ?? '', gateway.url).search,
    ]).toEqual([302, 302, '']);
  }

  const findSecrets = (pieces: readonly OutputPiece[]) => {
    const found = pieces.flatMap(({ from, text }) =>
      rig.plantedSecrets.findIn(text).map((what) => `${what} in ${from}`),
    );
    return [...new Set(found)];
  };
  const hasMarker = (pieces: readonly OutputPiece[], text: string) =>
    pieces.some((piece) => piece.text.includes(text));

  test('they were in use: the servers got each of them', () => {
    const received = JSON.stringify([rig.upstream.requests, rig.parrot.requests].flat());
    const arrived = rig.plantedSecrets.findIn(received).map((what) => what.replace(/ \(.*/, ''));
    expect(arrived).toEqual(
      expect.arrayContaining([
        ...['environment', 'header', 'basic key', 'header of the parrot', 'override', 'argument'],
        ...['variable of the owner at personal', 'variable of the owner at parrot'],
        'variable of the owner at parrot-2',
      ]),
    );
  });

  test('every route was asked', () => {
    const routes = rig.gateway.routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(Object.keys(accessMatrix)).toEqual(expect.arrayContaining(routes));
  });

  test('what is no secret is found in each of these places', () => {
    expect(hasMarker(answers, markers.title)).toBe(true);
    expect(hasMarker(logged, markers.name)).toBe(true);
    expect(audit).toContain(markers.name);
    expect(hasMarker(records, markers.name)).toBe(true);
    expect(hasMarker(files, markers.name)).toBe(true);
    expect(files.map(({ from }) => from)).toContain('the file behalf.db-wal');
  });

  test('an encoded one would be found as well', () => {
    const secret = 'pl4nted/very+secret=value';
    const forms = encodedForms(secret).map(([, text]) => text);
    for (const before of ['', 'a', 'ab', 'abc']) {
      for (const encoding of ['base64', 'base64url', 'hex'] as const) {
        const text = Buffer.from(`${before}${secret}${before}`).toString(encoding);
        expect(forms.some((form) => text.includes(form))).toBe(true);
      }
    }
    expect(forms).toContain(encodeURIComponent(secret));
  });

  test('no answer holds one', () => expect(findSecrets(answers)).toEqual([]));
  test('no log line holds one', () => expect(findSecrets(logged)).toEqual([]));
  test('no event holds one', () => {
    expect(findSecrets([{ from: 'the export', text: audit }])).toEqual([]);
  });
  test('the store holds none', () => expect(findSecrets([...records, ...files])).toEqual([]));
  test('no token of the identity provider is anywhere', () => {
    const token = /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\./;
    const pieces = [...answers, ...logged, ...records, ...files].filter(({ text }) => token.test(text));
    expect(pieces.map(({ from }) => from)).toEqual([]);
  });
});

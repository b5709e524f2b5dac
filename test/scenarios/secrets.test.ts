import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Piece } from './collected.ts';
import { formsOf } from './planted.ts';
import { matrix } from './matrix.ts';
import {
  askEverything,
  createAsk,
  plantServers,
  rightfulIn,
  type Ask,
  type PlantedServers,
} from './secretsPlanting.ts';
import { FAILURES, marker, setSecretsScene, type SecretsScene } from './secretsScene.ts';

describe('secrets that people and operators gave', () => {
  let scene: SecretsScene;
  let ask: Ask;
  let servers: PlantedServers;
  let answers: readonly Piece[];
  let logged: Piece[];
  let audit: string;
  let records: Piece[];
  let files: Piece[];

  beforeAll(async () => {
    scene = await setSecretsScene();
    ask = createAsk(scene);
    servers = await plantServers(scene, ask);
    await useTools();
    scene.repeatCredentials();
    await askParrots();
    await signIn();
    await askEverything(scene, ask, servers);
    audit = await eventually('the events to be written', async () => {
      const { body } = await ask('admin', 'GET /api/admin/audit/export');
      return body.includes('"tool.call"') && body;
    });
    ({ answers, logged } = { answers: scene.collected.answers(), logged: scene.collected.logLines() });
    records = await scene.collected.records();
    files = await scene.collected.files();
  }, 120_000);
  afterAll(() => scene.close());

  const call = (name: string, tool: string, query = '') => {
    const route = `POST /api/mcp/servers/${name}/tools/${tool}/call${query}`;
    const body = { arguments: { text: scene.spoken.argument } };
    return ask('owner', route, { body, rightful: rightfulIn(route, scene) });
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
      for (let turn = 0; turn < FAILURES; turn += 1) await work();
    };
    const config = { ...servers.definition, url: scene.parrot.url };
    await Promise.all([
      ...servers.parrots.flatMap((name) => [
        often(() => call(name, 'echo')),
        often(() => reinitialize(name)),
      ]),
      often(() => ask('owner', 'POST /api/mcp/servers', { body: { config } })),
    ]);
  }

  /** In every way there is. */
  async function signIn(): Promise<void> {
    const { planted, password, bearer, metricsToken, visitor, gateway } = scene;
    const keep = (name: string, headers: Headers) => {
      const secret = /behalf_session=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? '';
      planted.add(name, secret);
      return secret;
    };
    const login = await ask(null, 'POST /api/auth/login', { body: password, rightful: { cookie: true } });
    const cookie = `behalf_session=${keep('cookie of a login', login.headers)}`;
    const name = { name: 'laptop', scopes: ['mcp', 'servers'] };
    const made = await ask(null, 'POST /api/user/keys', {
      body: name,
      headers: { cookie },
      rightful: rightfulIn('POST /api/user/keys', scene),
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
    const begun = await ask(null, 'GET /oauth/openid');
    const back = await visitor.signIn(begun.headers.get('location') ?? '', 'carol');
    const flow = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
    const done = await ask(null, `GET ${back.pathname}${back.search}`, {
      headers: { cookie: flow },
      rightful: { cookie: true },
    });
    keep('cookie of a login at the provider', done.headers);
    expect([
      begun.status,
      done.status,
      new URL(done.headers.get('location') ?? '', gateway.url).search,
    ]).toEqual([302, 302, '']);
  }

  const told = (pieces: readonly Piece[]) => {
    const found = pieces.flatMap(({ from, text }) =>
      scene.planted.foundIn(text).map((what) => `${what} in ${from}`),
    );
    return [...new Set(found)];
  };
  const hasMarker = (pieces: readonly Piece[], text: string) =>
    pieces.some((piece) => piece.text.includes(text));

  test('they were in use: the servers got each of them', () => {
    const received = JSON.stringify([scene.upstream.requests, scene.parrot.requests].flat());
    const arrived = scene.planted.foundIn(received).map((what) => what.replace(/ \(.*/, ''));
    expect(arrived).toEqual(
      expect.arrayContaining([
        ...['environment', 'header', 'basic key', 'header of the parrot', 'override', 'argument'],
        ...['variable of the owner at personal', 'variable of the owner at parrot'],
        'variable of the owner at parrot-2',
      ]),
    );
  });

  test('every route was asked', () => {
    const routes = scene.gateway.routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(Object.keys(matrix)).toEqual(expect.arrayContaining(routes));
  });

  test('what is no secret is found in each of these places', () => {
    expect(hasMarker(answers, marker.title)).toBe(true);
    expect(hasMarker(logged, marker.name)).toBe(true);
    expect(audit).toContain(marker.name);
    expect(hasMarker(records, marker.name)).toBe(true);
    expect(hasMarker(files, marker.name)).toBe(true);
    expect(files.map(({ from }) => from)).toContain('the file behalf.db-wal');
  });

  test('an encoded one would be found as well', () => {
    const secret = 'pl4nted/very+secret=value';
    const forms = formsOf(secret).map(([, text]) => text);
    for (const before of ['', 'a', 'ab', 'abc']) {
      for (const encoding of ['base64', 'base64url', 'hex'] as const) {
        const text = Buffer.from(`${before}${secret}${before}`).toString(encoding);
        expect(forms.some((form) => text.includes(form))).toBe(true);
      }
    }
    expect(forms).toContain(encodeURIComponent(secret));
  });

  test('no answer holds one', () => expect(told(answers)).toEqual([]));
  test('no log line holds one', () => expect(told(logged)).toEqual([]));
  test('no event holds one', () => {
    expect(told([{ from: 'the export', text: audit }])).toEqual([]);
  });
  test('the store holds none', () => expect(told([...records, ...files])).toEqual([]));
  test('no token of the identity provider is anywhere', () => {
    const token = /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\./;
    const pieces = [...answers, ...logged, ...records, ...files].filter(({ text }) => token.test(text));
    expect(pieces.map(({ from }) => from)).toEqual([]);
  });
});

import type { FlowView } from '@behalf/contracts';
import { eventually, type ScriptedOAuthResponse } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createOutputCollector, type OutputPiece } from './collectedOutput.ts';
import { lastServedToken, createSignedInRig, type SignedInRig } from './grantCalls.ts';
import { createGrantRigs } from './grantRig.ts';
import { captureTraffic, type TrafficCapture } from './oboTrafficCapture.ts';
import { createPlantedSecrets } from './plantedSecrets.ts';
import type { TestUser } from './users.ts';
import { FAILURE_COUNT, createRepeatingResponder } from './secretsRig.ts';

/** Harmless, and looked for in the same way: who does not find it could not find a secret either. */
const MARKER = 'Canary Marmalade';
const FORMATS = ['', '?format=openai', '?format=anthropic'];

const createRig = createGrantRigs();

describe('what users are given at servers', () => {
  const planted = createPlantedSecrets();
  const clientSecret = planted.create('client secret');
  const metricsToken = planted.create('METRICS_TOKEN');
  let overheard: TrafficCapture;
  let rig: SignedInRig;
  let root: TestUser;
  let names: string[];
  let answers: OutputPiece[];
  let logged: OutputPiece[];
  let stored: OutputPiece[];
  let audit: string;
  let metrics: string;

  // All that is looked at is collected here; the scene itself is over with the first test.
  beforeAll(async () => {
    overheard = captureTraffic();
    rig = await createSignedInRig(createRig, {
      names: ['Ada', { name: 'Root', role: 'ADMIN' }],
      variables: { METRICS_TOKEN: metricsToken, RATE_LIMIT_WRITES: '100000', RATE_LIMIT_CALLS: '100000' },
      as: { clients: [{ clientId: 'us', authMethod: 'client_secret_post', secret: clientSecret }] },
      server: ({ issuer }) => ({
        title: MARKER,
        oauth: {
          issuer,
          client_id: 'us',
          client_secret: clientSecret,
          token_exchange_method: 'default_post',
        },
      }),
      mcp: {
        capabilities: { tools: {}, resources: {} },
        tools: [{ name: 'echo' }, { name: 'repeat', handler: (_args, { request }) => repeated(request) }],
        methods: {
          'resources/read': (_params, { request }) => ({
            contents: [{ uri: 'note://1', text: String(request.headers.authorization) }],
          }),
        },
      },
    });
    root = rig.users[1] as TestUser;
    await useTokens();
    await failAtTheAuthorizationServer();
    await failAtTheServer();
    await bringTokens();
    const ended = await rig.ada.post('/api/mcp/notes/oauth/disconnect', {});
    expect(await ended.json()).toMatchObject({ disconnected: true });
    await collect();
  }, 120_000);
  afterAll(() => overheard.stop());

  const call = (tool: string, query = '') =>
    rig.ada.post(`/api/mcp/servers/notes/tools/${tool}/call${query}`, { arguments: {} });
  /** A token that is refused next time, when it is not as new as it was. */
  const outdate = () => {
    rig.clock.advance(40_000);
    rig.as.endAccessToken(lastServedToken(rig));
  };

  /** Used, renewed, repeated by a tool, and asked about in every way. */
  async function useTokens(): Promise<void> {
    const { ada, startSignIn, connectUser } = rig;
    outdate();
    for (const query of FORMATS) {
      expect((await call('echo', query)).status).toBe(200);
      expect(await (await call('repeat', query)).text()).toContain('[redacted]');
    }
    const read = await ada.post('/api/mcp/servers/notes/resources/read', { uri: 'note://1' });
    expect(await read.text()).toContain('[redacted]');
    await ada.post('/api/mcp/notes/reinitialize', {});
    for (const path of ['notes/credentials', 'notes/diagnose', 'connection/status/notes', 'tools']) {
      await ada.get(`/api/mcp/${path}`);
    }
    await ada.post('/api/mcp/notes/diagnose', {});
    const started = await startSignIn(ada, { label: 'second' });
    const { flowId } = (await started.clone().json()) as FlowView;
    expect((await connectUser(ada, started)).pathname).toBe('/oauth/success');
    for (const about of ['status', 'tokens']) await ada.get(`/api/mcp/oauth/${about}/${flowId}`);
  }

  /** It says all that it ever gave to anybody, in whatever it refuses with. */
  async function failAtTheAuthorizationServer(): Promise<void> {
    const { ada, as, startSignIn, connectUser } = rig;
    const said = () => as.secrets.join(' ');
    const refusals: (() => ScriptedOAuthResponse)[] = [
      () => ({ status: 400, body: { error: 'unheard_of', error_description: said(), error_uri: said() } }),
      () => ({ status: 400, body: { error: said() } }),
      () => ({ status: 200, body: { error: 'invalid_request', error_description: said() } }),
      () => ({ status: 200, body: `{"access_token":"${said()}` }),
      () => ({ status: 401, headers: { 'www-authenticate': `Basic realm="${said()}"` }, body: said() }),
      () => ({ status: 429, headers: { 'retry-after': said() }, body: said() }),
      () => ({ status: 503, body: said() }),
    ];
    for (const refuse of refusals) {
      outdate();
      as.respondNext('token', refuse());
      await call('echo');
      as.respondNext('token', refuse());
      expect((await connectUser(ada, await startSignIn(ada, { label: 'third' }))).pathname).toBe(
        '/oauth/error',
      );
    }
    as.change({ consent: 'deny' });
    expect((await connectUser(ada, await startSignIn(ada))).pathname).toBe('/oauth/error');
    as.change({ consent: 'approve' });
    expect((await connectUser(ada, await startSignIn(ada))).pathname).toBe('/oauth/success');
    expect((await call('echo')).status).toBe(200);
  }

  /** With the token that it was shown in all that it says. */
  async function failAtTheServer(): Promise<void> {
    const { ada, mcp } = rig;
    mcp.change({ respond: createRepeatingResponder() });
    for (let turn = 0; turn < FAILURE_COUNT; turn += 1) {
      rig.clock.advance(40_000);
      await call('echo');
      await ada.post('/api/mcp/notes/reinitialize', {});
      await ada.post('/api/mcp/notes/diagnose', {});
    }
    mcp.change({ respond: () => undefined });
  }

  /** Where none belongs, or not of the right kind. */
  async function bringTokens(): Promise<void> {
    const { ada, as } = rig;
    const { accessToken, refreshToken } = as.grant({ clientId: 'us' });
    for (const body of [
      { accessToken: [accessToken], refreshToken },
      { accessToken, refreshToken, issuer: accessToken, clientId: refreshToken },
      { accessToken, expiresIn: 60, label: 'brought' },
    ]) {
      await ada.send('PUT', '/api/mcp/notes/credential', body);
    }
    await ada.get(`/api/mcp/notes/oauth/callback?code=${accessToken}&state=${String(refreshToken)}`);
    await ada.get(`/api/mcp/oauth/status/${accessToken}`);
  }

  async function collect(): Promise<void> {
    const { gateway, as } = rig;
    audit = await eventually('the events to be written', async () => {
      const text = await (await root.get('/api/admin/audit/export')).text();
      return text.includes('oauth.disconnect') && text;
    });
    const response = await root.get('/metrics', { authorization: `Bearer ${metricsToken}` });
    metrics = await response.text();
    names = overheard.plantSecrets(as.port, planted);
    as.secrets.forEach((secret, i) => planted.add(`secret ${i} of the authorization server`, secret));
    const collected = createOutputCollector(gateway);
    answers = overheard.responsesOf(Number(new URL(gateway.url).port));
    logged = collected.listLogLines();
    stored = [...(await collected.readRecords()), ...(await collected.readFiles())];
  }

  const findSecrets = (pieces: readonly OutputPiece[]) => {
    const found = pieces.flatMap(({ from, text }) =>
      planted.findIn(text).map((what) => `${what} in ${from.replace(/\?.*/, '')}`),
    );
    return [...new Set(found)];
  };
  const holds = (pieces: readonly OutputPiece[], text: string) =>
    pieces.some((piece) => piece.text.includes(text));

  test('each kind was in use and is looked for, where others are found', () => {
    expect(new Set(names)).toEqual(
      new Set(['access_token', 'refresh_token', 'code', 'code_verifier', 'client_secret']),
    );
    const shown = rig.mcp.requests.map(({ headers }) => headers.authorization ?? '');
    expect(planted.findIn(shown.join(' ')).length).toBeGreaterThan(2);
    expect([holds(answers, MARKER), holds(logged, 'notes'), holds(stored, 'notes')]).toEqual([
      true,
      true,
      true,
    ]);
    expect(audit).toContain('notes');
    expect(metrics).toContain('behalf_');
    expect(answers.filter(({ text }) => text.includes('application/problem+json')).length).toBeGreaterThan(8);
  });
  test('no answer holds one, whatever a server or its sign-in says', () => {
    expect(findSecrets(answers)).toEqual([]);
  });
  test('no log line holds one', () => expect(findSecrets(logged)).toEqual([]));
  test('no event and no measurement holds one', () => {
    expect(
      findSecrets([
        { from: 'the export', text: audit },
        { from: 'the metrics', text: metrics },
      ]),
    ).toEqual([]);
  });
  test('the store holds none', () => expect(findSecrets(stored)).toEqual([]));
});

/** A tool that says what it was shown, wherever a result has a place for it. */
function repeated({ headers }: { readonly headers: { readonly authorization?: string | undefined } }) {
  const said = String(headers.authorization);
  return {
    content: [
      { type: 'text', text: `I was shown ${said}.` },
      { type: 'resource', resource: { uri: `note://${said}`, text: said } },
    ],
    structuredContent: { said, deep: [{ [said]: said }] },
    _meta: { said },
  };
}

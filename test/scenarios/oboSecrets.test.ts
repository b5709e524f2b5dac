import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FaultBehavior } from '@behalf/devidp';
import {
  describeWith,
  eventually,
  startRedisServer,
  type RedisServer,
  type ScriptedReply,
  type ScriptedRequest,
} from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createOutputCollector, type OutputPiece } from './collectedOutput.ts';
import { startAttackRig, type AttackRig } from './oboAttackersRig.ts';
import { callWithToken } from './oboCaller.ts';
import { exchangeMethods } from './oboRig.ts';
import { captureTraffic, type TrafficCapture } from './oboTrafficCapture.ts';
import { monitorRedis, type RedisMonitor } from './oboRedisMonitor.ts';
import { createSignedInVisitor } from './oboSignInVisitor.ts';
import { createPlantedSecrets } from './plantedSecrets.ts';
import { createTokenCaller } from './tokenCaller.ts';

/** Harmless, and looked for in the same way: who does not find it could not find a secret either. */
const MARKER = 'Canary Marmalade';
const CLAIMS = '{"access_token":{"acrs":{"essential":true,"value":"c1"}}}';

const faults: readonly FaultBehavior[] = [
  { kind: 'throttle', retryAfterSeconds: 30 },
  { kind: 'fail' },
  { kind: 'empty' },
  { kind: 'empty-token' },
  { kind: 'not-bearer' },
  { kind: 'close' },
  { kind: 'other-audience', audience: 'elsewhere' },
  { kind: 'claims', claims: CLAIMS },
];

for (const exchangeMethod of exchangeMethods) {
  describeWith('redis-server', `tokens on their way through the gateway (${exchangeMethod})`, () => {
    let redis: RedisServer;
    let tap: RedisMonitor;
    let overheard: TrafficCapture;
    let rig: AttackRig;
    const planted = createPlantedSecrets();
    let names: string[];
    let answers: OutputPiece[];
    let logged: OutputPiece[];
    let stored: OutputPiece[];
    let server: string;

    beforeAll(async () => {
      redis = await startRedisServer();
      tap = await monitorRedis(redis.uri);
      overheard = captureTraffic();
      rig = await startAttackRig(exchangeMethod, {
        variables: {
          ...{ REDIS_URI: redis.uri, CREDS_KEY: 'e'.repeat(64), LOG_LEVEL: 'debug' },
          OPENID_SCOPE: 'openid profile email offline_access',
        },
      });
      ({ name: server } = await rig.createServer(
        'otto',
        rig.createOboDefinition(rig.goodServer.url, { title: MARKER }),
      ));
      await useTokens();
      await fail();
      await repeatTokens();
      const collected = createOutputCollector(rig);
      names = overheard.plantSecrets(Number(new URL(rig.idp.issuer).port), planted);
      planted.add('secret of the client', 'secret-of-the-gateway');
      for (const file of ['client.key', 'assertion.jwt']) await plantFile(file);
      await eventually('the events to be written', async () => {
        const { body } = await rig.send('ada', 'GET', '/api/admin/audit?limit=200');
        return JSON.stringify(body).includes('OBO_CONSENT_REQUIRED') || null;
      });
      await rig.send('ada', 'GET', '/api/admin/audit/verify');
      answers = overheard.responsesOf(Number(new URL(rig.url).port));
      logged = collected.listLogLines();
      stored = [
        ...(await collected.readRecords()),
        ...(await collected.readFiles()),
        tap.readCommands(),
        await tap.dump(),
      ];
    }, 180_000);
    afterAll(async () => {
      overheard.stop();
      tap.close();
      await rig.close();
      await redis.stop();
    });

    async function plantFile(name: string): Promise<void> {
      const text = await readFile(join(rig.directory, name), 'utf8').catch(() => '');
      const body = text.replaceAll(/-----[^-]+-----/g, '').trim();
      if (body !== '') planted.add(`the file ${name}`, body.split('\n')[1] ?? body);
    }

    /** With a token, with a session, with a key; calls, lists and reads. */
    async function useTokens(): Promise<void> {
      for (const name of [server, 'mail']) {
        for (const user of ['uma', 'uma', 'vic']) await rig.callServer(user, name);
        await rig.send('uma', 'POST', `/api/mcp/${name}/reinitialize`, {});
        await rig.send('uma', 'GET', `/api/mcp/servers/${name}`);
        await rig.send('uma', 'GET', `/api/mcp/servers/${name}/prompts`);
      }
      await rig.send('uma', 'GET', '/api/mcp/tools');
      await rig.send('uma', 'GET', '/api/mcp/connection/status');
      const browser = await createSignedInVisitor(rig, 'uma');
      expect((await browser.call()).status).toBe(200);
      const made = await browser.post('/api/user/keys', { name: 'key', scopes: ['mcp', 'obo'] });
      const { key } = (await made.json()) as { key: string };
      expect(await createTokenCaller(rig.url, key).call('mail', 'whoami')).toMatchObject({ status: 200 });
      // What the provider wants proven goes round by the sign-in.
      rig.idp.switches.set({ kind: 'claims', claims: CLAIMS }, { user: 'uma', times: 1 });
      await browser.call(server);
      await browser.signIn('uma');
      expect((await browser.call(server)).status).toBe(200);
      await browser.post('/api/auth/logout', {});
      await rig.send('ada', 'PUT', '/api/admin/mcp/servers/mail', { config: { title: MARKER } });
      await rig.send('ada', 'GET', '/api/admin/mcp/servers/mail');
    }

    /** The provider in every way it can, the server, and the caller. */
    async function fail(): Promise<void> {
      for (const behavior of faults) {
        rig.idp.switches.set(behavior, { user: 'vic' });
        expect((await callWithToken(rig, rig.mintToken('vic'), 'mail')).status).toBeGreaterThanOrEqual(400);
        rig.idp.switches.clear();
      }
      rig.mail.rejectTokens(1);
      await callWithToken(rig, rig.mintToken('uma'), 'mail');
      rig.mail.requireClaims(CLAIMS);
      await callWithToken(rig, rig.mintToken('uma'), 'mail');
      rig.mail.acceptTokens();
      const wrong = rig.idp.tokens.mintUnsigned({ user: 'uma' });
      for (const token of [wrong, `${rig.mintToken('uma')}x`]) await callWithToken(rig, token, 'mail');
      await rig.send('uma', 'POST', `/api/mcp/servers/mail/tools/whoami/call`, {
        assertion: rig.mintToken('uma'),
      });
    }

    /** A server that says the token it was shown in whatever it refuses with. */
    async function repeatTokens(): Promise<void> {
      for (const reply of refusals) {
        rig.goodServer.change({ respond: (request) => reply(request) });
        await callWithToken(rig, rig.mintToken('uma'), server);
        await rig.send('uma', 'POST', `/api/mcp/${server}/reinitialize`, {});
      }
      rig.goodServer.change({ respond: () => undefined });
    }

    const listSecretsFound = (pieces: readonly OutputPiece[]) => {
      const found = pieces.flatMap(({ from, text }) =>
        planted.findIn(text).map((what) => `${what} in ${from}`),
      );
      return [...new Set(found)];
    };
    const holds = (pieces: readonly OutputPiece[], text: string) =>
      pieces.some((piece) => piece.text.includes(text));

    test('every kind of credential was in use, and is looked for', () => {
      expect(new Set(names)).toEqual(new Set([...alwaysThere, ...(thereFor[exchangeMethod] ?? [])]));
      const shown = rig.goodServer.requests.map(({ headers }) => headers.authorization ?? '');
      expect(planted.findIn(shown.join(' ')).length).toBeGreaterThan(2);
      expect(answers.filter(({ text }) => text.includes('"structuredContent"')).length).toBeGreaterThan(8);
      // What is no secret is found in each of these places.
      expect([holds(answers, MARKER), holds(logged, server), holds(stored, server)]).toEqual([
        true,
        true,
        true,
      ]);
      expect(stored.map(({ from }) => from)).toEqual(
        expect.arrayContaining(['the file behalf.db', 'the collection servers', 'the dump of Redis']),
      );
      const remaining = stored.filter(({ from }) => from.includes('Redis'));
      expect(
        remaining.map(({ text }) => /\bobo\b/.test(text) && /v1\.[\w-]+\.[\w-]+\.[\w-]{200}/.test(text)),
      ).toEqual([true, true]);
    });

    test('no answer holds one', () => expect(listSecretsFound(answers)).toEqual([]));
    test('no log line holds one', () => expect(listSecretsFound(logged)).toEqual([]));
    test('nor anything else that looks like a token', () => {
      const pieces = [...answers, ...logged].filter(({ text }) =>
        /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\./.test(text),
      );
      expect(pieces.map(({ from }) => from)).toEqual([]);
    });
    test('no file, no record and no Redis holds one', () => {
      expect(listSecretsFound(stored)).toEqual([]);
      const pieces = stored.filter(({ text }) => /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\./.test(text));
      expect(pieces.map(({ from }) => from)).toEqual([]);
    });
  });
}

/** A browser signs in with the secret, whichever way tokens are exchanged. */
const alwaysThere = ['access_token', 'refresh_token', 'id_token', 'code', 'code_verifier', 'client_secret'];
const thereFor: Readonly<Record<string, readonly string[]>> = {
  'entra-secret': ['assertion'],
  'entra-certificate': ['assertion', 'client_assertion'],
  'entra-federated': ['assertion', 'client_assertion'],
  'jwt-bearer': ['assertion'],
  'token-exchange': ['subject_token'],
};

const json = { 'content-type': 'application/json' };
const said = ({ headers }: ScriptedRequest) => String(headers.authorization);
const rpc = (request: ScriptedRequest) => ({
  ...{ jsonrpc: '2.0', id: request.message?.id },
  error: { code: -32000, message: said(request), data: { said: said(request) } },
});
const refusals: readonly ((request: ScriptedRequest) => ScriptedReply)[] = [
  (request) => ({
    status: 401,
    headers: { 'www-authenticate': `Bearer error="invalid_token", error_description="${said(request)}"` },
    body: said(request),
  }),
  (request) => ({
    status: 403,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${said(request)}"` },
  }),
  (request) => ({ status: 404, body: said(request) }),
  (request) => ({ status: 400, body: rpc(request) }),
  (request) => ({ status: 500, body: said(request) }),
  (request) => ({
    status: 302,
    headers: { location: `http://127.0.0.1:9/${encodeURIComponent(said(request))}` },
  }),
  (request) => ({ status: 200, headers: json, body: rpc(request) }),
  (request) => ({ status: 200, headers: json, body: `{"jsonrpc":"2.0","said":"${said(request)}` }),
  (request) => ({ status: 200, headers: { 'content-type': `text/${encodeURIComponent(said(request))}` } }),
  (request) => ({ status: 429, headers: { 'retry-after': said(request) }, body: said(request) }),
];

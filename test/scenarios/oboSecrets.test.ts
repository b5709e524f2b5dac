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
import { createCollected, type Piece } from './collected.ts';
import { startAttackScene, type AttackScene } from './oboAttackersScene.ts';
import { callWith } from './oboCaller.ts';
import { ways } from './oboScene.ts';
import { overhear, type Overheard } from './oboSecretsOverheard.ts';
import { tapRedis, type RedisTap } from './oboSecretsRedis.ts';
import { signedInAt } from './oboSignInVisitor.ts';
import { createPlanted } from './planted.ts';
import { tokenCaller } from './tokenCaller.ts';

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

for (const way of ways) {
  describeWith('redis-server', `tokens on their way through the gateway (${way})`, () => {
    let redis: RedisServer;
    let tap: RedisTap;
    let overheard: Overheard;
    let scene: AttackScene;
    const planted = createPlanted();
    let names: string[];
    let answers: Piece[];
    let logged: Piece[];
    let stored: Piece[];
    let server: string;

    beforeAll(async () => {
      redis = await startRedisServer();
      tap = await tapRedis(redis.uri);
      overheard = overhear();
      scene = await startAttackScene(way, {
        variables: {
          ...{ REDIS_URI: redis.uri, CREDS_KEY: 'e'.repeat(64), LOG_LEVEL: 'debug' },
          OPENID_SCOPE: 'openid profile email offline_access',
        },
      });
      ({ name: server } = await scene.publish('otto', scene.obo(scene.good.url, { title: MARKER })));
      await useTokens();
      await fail();
      await repeatTokens();
      const collected = createCollected(scene);
      names = overheard.plantSecrets(Number(new URL(scene.idp.issuer).port), planted);
      planted.add('secret of the client', 'secret-of-the-gateway');
      for (const file of ['client.key', 'assertion.jwt']) await plantFile(file);
      await eventually('the events to be written', async () => {
        const { body } = await scene.ask('ada', 'GET', '/api/admin/audit?limit=200');
        return JSON.stringify(body).includes('OBO_CONSENT_REQUIRED') || null;
      });
      await scene.ask('ada', 'GET', '/api/admin/audit/verify');
      answers = overheard.answersOf(Number(new URL(scene.url).port));
      logged = collected.logLines();
      stored = [...(await collected.records()), ...(await collected.files()), tap.told(), await tap.dump()];
    }, 180_000);
    afterAll(async () => {
      overheard.stop();
      tap.close();
      await scene.close();
      await redis.stop();
    });

    async function plantFile(name: string): Promise<void> {
      const text = await readFile(join(scene.directory, name), 'utf8').catch(() => '');
      const body = text.replaceAll(/-----[^-]+-----/g, '').trim();
      if (body !== '') planted.add(`the file ${name}`, body.split('\n')[1] ?? body);
    }

    /** With a token, with a session, with a key; calls, lists and reads. */
    async function useTokens(): Promise<void> {
      for (const name of [server, 'mail']) {
        for (const user of ['uma', 'uma', 'vic']) await scene.call(user, name);
        await scene.ask('uma', 'POST', `/api/mcp/${name}/reinitialize`, {});
        await scene.ask('uma', 'GET', `/api/mcp/servers/${name}`);
        await scene.ask('uma', 'GET', `/api/mcp/servers/${name}/prompts`);
      }
      await scene.ask('uma', 'GET', '/api/mcp/tools');
      await scene.ask('uma', 'GET', '/api/mcp/connection/status');
      const browser = await signedInAt(scene, 'uma');
      expect((await browser.call()).status).toBe(200);
      const made = await browser.post('/api/user/keys', { name: 'key', scopes: ['mcp', 'obo'] });
      const { key } = (await made.json()) as { key: string };
      expect(await tokenCaller(scene.url, key).call('mail', 'whoami')).toMatchObject({ status: 200 });
      // What the provider wants proven goes round by the sign-in.
      scene.idp.switches.set({ kind: 'claims', claims: CLAIMS }, { user: 'uma', times: 1 });
      await browser.call(server);
      await browser.signIn('uma');
      expect((await browser.call(server)).status).toBe(200);
      await browser.post('/api/auth/logout', {});
      await scene.ask('ada', 'PUT', '/api/admin/mcp/servers/mail', { config: { title: MARKER } });
      await scene.ask('ada', 'GET', '/api/admin/mcp/servers/mail');
    }

    /** The provider in every way it can, the server, and the caller. */
    async function fail(): Promise<void> {
      for (const behaviour of faults) {
        scene.idp.switches.set(behaviour, { user: 'vic' });
        expect((await callWith(scene, scene.token('vic'), 'mail')).status).toBeGreaterThanOrEqual(400);
        scene.idp.switches.clear();
      }
      scene.mail.rejectTokens(1);
      await callWith(scene, scene.token('uma'), 'mail');
      scene.mail.requireClaims(CLAIMS);
      await callWith(scene, scene.token('uma'), 'mail');
      scene.mail.acceptTokens();
      const wrong = scene.idp.tokens.mintUnsigned({ user: 'uma' });
      for (const token of [wrong, `${scene.token('uma')}x`]) await callWith(scene, token, 'mail');
      await scene.ask('uma', 'POST', `/api/mcp/servers/mail/tools/whoami/call`, {
        assertion: scene.token('uma'),
      });
    }

    /** A server that says the token it was shown in whatever it refuses with. */
    async function repeatTokens(): Promise<void> {
      for (const reply of refusals) {
        scene.good.change({ respond: (request) => reply(request) });
        await callWith(scene, scene.token('uma'), server);
        await scene.ask('uma', 'POST', `/api/mcp/${server}/reinitialize`, {});
      }
      scene.good.change({ respond: () => undefined });
    }

    const told = (pieces: readonly Piece[]) => {
      const found = pieces.flatMap(({ from, text }) =>
        planted.foundIn(text).map((what) => `${what} in ${from}`),
      );
      return [...new Set(found)];
    };
    const holds = (pieces: readonly Piece[], text: string) =>
      pieces.some((piece) => piece.text.includes(text));

    test('every kind of credential was in use, and is looked for', () => {
      expect(new Set(names)).toEqual(new Set([...alwaysThere, ...(thereFor[way] ?? [])]));
      const shown = scene.good.requests.map(({ headers }) => headers.authorization ?? '');
      expect(planted.foundIn(shown.join(' ')).length).toBeGreaterThan(2);
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
      const kept = stored.filter(({ from }) => from.includes('Redis'));
      expect(
        kept.map(({ text }) => /\bobo\b/.test(text) && /v1\.[\w-]+\.[\w-]+\.[\w-]{200}/.test(text)),
      ).toEqual([true, true]);
    });

    test('no answer holds one', () => expect(told(answers)).toEqual([]));
    test('no log line holds one', () => expect(told(logged)).toEqual([]));
    test('nor anything else that looks like a token', () => {
      const pieces = [...answers, ...logged].filter(({ text }) =>
        /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\./.test(text),
      );
      expect(pieces.map(({ from }) => from)).toEqual([]);
    });
    test('no file, no record and no Redis holds one', () => {
      expect(told(stored)).toEqual([]);
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

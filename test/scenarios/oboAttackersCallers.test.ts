import type { TokenMinter } from '@behalf/devidp';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MAIL_SCOPES, startAttackRig, readSubject, type AttackRig } from './oboAttackersRig.ts';
import { callWithToken, subjectSeenByServer } from './oboCaller.ts';
import { createUsers } from './users.ts';

for (const exchangeMethod of ['entra-secret', 'jwt-bearer'] as const) {
  describe(`callers who would like to be somebody else (${exchangeMethod})`, () => {
    let rig: AttackRig;
    let server: string;
    beforeAll(async () => {
      rig = await startAttackRig(exchangeMethod);
      ({ name: server } = await rig.createServer(
        'otto',
        rig.createOboDefinition(rig.goodServer.url, { title: 'Mail of all' }),
      ));
    }, 60_000);
    beforeEach(() => rig.forgetRequests());
    afterAll(() => rig.close());

    for (const era of ['legacy', 'modern'] as const) {
      test(`two hundred interleaved calls of two users, each with their own token and session: ${era}`, async () => {
        const { goodServer } = rig;
        goodServer.change({ era });
        const { name } = await rig.createServer(
          'otto',
          rig.createOboDefinition(`${goodServer.url}?${era}`, { title: era }),
        );
        const before = goodServer.requests.length;
        const users = ['uma', 'vic'];
        const shown = new Map(users.map((user): [string, Set<string>] => [user, new Set()]));
        await Promise.all(
          Array.from({ length: 20 }, async (_, lane) => {
            for (let turn = 0; turn < 10; turn += 1) {
              const who = users[(lane + turn) % 2]!;
              // Some of them have just signed in again.
              const token = turn % 5 === 0 ? rig.mintToken(who) : rig.tokenFor(who);
              shown.get(who)?.add(token);
              const answer = await callAs(token, name, { who });
              expect([answer.status, answer.subject]).toEqual([200, who]);
            }
          }),
        );
        const requests = goodServer.requests.slice(before);
        const calls = requests.filter(({ message }) => message?.method === 'tools/call');
        expect(calls).toHaveLength(200);
        for (const { headers, message } of calls) {
          const { who } = message?.params?.['arguments'] as { who: string };
          expect(readSubject(headers.authorization)).toBe(who);
        }
        // Hand-shakes, streams and goodbyes too: nothing without a token, and nobody's session with another's.
        const sessions = new Map<string, Set<string | undefined>>();
        for (const { headers } of requests) {
          const subject = readSubject(headers.authorization);
          expect(users).toContain(subject);
          const id = headers['mcp-session-id'];
          if (id === undefined) continue;
          sessions.set(String(id), (sessions.get(String(id)) ?? new Set()).add(subject));
        }
        expect([...sessions.values()].map(({ size }) => size)).toEqual([...sessions].map(() => 1));
        if (era === 'legacy') expect(sessions.size).toBeGreaterThanOrEqual(2);
        // What they came with goes nowhere.
        const sent = JSON.stringify(requests.map(({ headers, text }) => [headers, text]));
        for (const token of [...shown.values()].flatMap((all) => [...all])) expect(sent).not.toContain(token);
        goodServer.change({ era: 'legacy' });
      }, 60_000);
    }

    async function callAs(
      token: string,
      name: string,
      args: object,
      { body = { arguments: args }, query = '', headers = {} }: Smuggled = {},
    ) {
      const path = `/api/mcp/servers/${name}/tools/whoami/call${query}`;
      const response = await fetch(new URL(path, rig.url), {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      const { structuredContent = {}, code } = (await response.json()) as {
        structuredContent?: { subject?: string };
        code?: string;
      };
      return { status: response.status, subject: structuredContent.subject, code };
    }

    test('no part of a request names a token, a provider or scopes', async () => {
      const { goodServer } = rig;
      const theirs = rig.tokenFor('vic');
      const named = {
        ...{ subject_token: theirs, assertion: theirs, subjectToken: theirs, access_token: theirs },
        ...{ scope: 'https://graph.microsoft.com/.default', scopes: 'Mail.ReadWrite', provider: 'other' },
        ...{
          obo: { scopes: 'Mail.ReadWrite', provider: 'other' },
          claims: '{}',
          user: 'vic',
          userId: 'vic',
        },
      };
      const flat = Object.entries(named).filter(([, value]) => typeof value === 'string') as [
        string,
        string,
      ][];
      const query = `?${new URLSearchParams(flat).toString()}`;
      const smuggled: [accepted: boolean, Smuggled][] = [
        [false, { body: { arguments: {}, ...named } }],
        [false, { body: { arguments: {}, request: named } }],
        [false, { body: { arguments: {}, obo: named.obo } }],
        [false, { body: { arguments: {}, principal: { userId: 'vic' } } }],
        [true, { body: { arguments: { _meta: named, ...named } } }],
        [true, { query }],
        [true, { headers: { 'x-forwarded-access-token': theirs, 'x-ms-token-aad-access-token': theirs } }],
        [
          true,
          { headers: { 'x-authorization': `Bearer ${theirs}`, 'proxy-authorization': `Bearer ${theirs}` } },
        ],
        [true, { headers: { 'mcp-session-id': await sessionOf('vic') } }],
        [true, { headers: { 'x-user': 'vic', 'x-librechat-user-id': 'vic', 'x-behalf-user': 'vic' } }],
      ];
      for (const [accepted, how] of smuggled) {
        rig.forgetRequests();
        const answer = await callAs(rig.mintToken('uma'), server, {}, how);
        const { requestLog: requests } = rig.idp;
        if (accepted) expect([how, answer]).toEqual([how, { status: 200, subject: 'uma', code: undefined }]);
        else expect([how, answer.status, answer.code]).toEqual([how, 400, 'REQUEST_INVALID']);
        expect(requests.entries.map(({ user, scope }) => [user, scope])).toEqual(
          accepted ? [['uma', SCOPED[exchangeMethod]]] : [],
        );
        const seen = rig.requestsTo(goodServer).map(({ headers }) => readSubject(headers.authorization));
        expect(new Set(seen)).toEqual(new Set(accepted ? ['uma'] : []));
        const sent = JSON.stringify(rig.requestsTo(goodServer).map(({ headers }) => headers));
        expect(sent).not.toContain(theirs);
      }
    });

    /** The session that this user has at the server. */
    async function sessionOf(user: string): Promise<string> {
      expect(subjectSeenByServer(await rig.callServer(user, server))).toBe(user);
      return String(rig.requestsTo(rig.goodServer).at(-1)?.headers['mcp-session-id']);
    }

    test('a token and a cookie of two people are nobody’s two tokens', async () => {
      const [pia] = await createUsers(rig, ['Pia']);
      const headers = { cookie: pia?.cookie ?? '', 'x-behalf-csrf': '1' };
      const answer = await callAs(rig.tokenFor('uma'), server, {}, { headers });
      expect([undefined, 'uma']).toContain(answer.subject);
      expect(new Set(rig.idp.requestLog.entries.map(({ user }) => user))).toEqual(
        new Set(rig.idp.requestLog.count() === 0 ? [] : ['uma']),
      );
      // Somebody without a token gets none for being called the same, or for anything else.
      const own = await pia?.call(server, 'whoami');
      expect(own?.body).not.toHaveProperty('structuredContent.subject');
    });

    test('a token that does not hold is exchanged by nobody', async () => {
      const { idp, goodServer } = rig;
      const own = idp.entra?.tokens ?? idp.tokens;
      expect(subjectSeenByServer(await rig.callServer('uma', server))).toBe('uma');
      const exchanged =
        rig.requestsTo(goodServer).at(-1)?.headers.authorization?.replace('Bearer ', '') ?? '';
      const forged = await forgedWith(own, exchanged);
      // Another name of the same provider issues too: its tokens are none of ours.
      if (idp.entra) forged.push(idp.tokens.mint({ user: 'uma' }));
      rig.forgetRequests();
      for (const token of forged) {
        const { status, body } = await callWithToken(rig, token, server);
        expect([token, status, body.code]).toEqual([token, 401, expect.stringMatching(/^AUTH_/)]);
        const mail = await callWithToken(rig, token, 'mail');
        expect(mail.status).toBe(401);
      }
      expect(idp.requestLog.entries).toEqual([]);
      expect(rig.requestsTo(goodServer)).toEqual([]);
      expect(rig.mail.credentials.all()).toEqual([]);
      // A program is nobody on whose behalf something could be done.
      const { status } = await callWithToken(rig, own.mintAppOnly({ client: 'behalf' }), 'mail');
      expect(status).toBeGreaterThanOrEqual(400);
      expect(idp.requestLog.entries).toEqual([]);
    });

    async function forgedWith(own: TokenMinter, exchanged: string): Promise<string[]> {
      const good = own.mint({ user: 'uma' });
      const [head = '', payload = '', signature = ''] = good.split('.');
      const says = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
      const other = Buffer.from(JSON.stringify({ ...says, sub: 'vic', oid: 'vic' })).toString('base64url');
      const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string };
      const unknown = await own.createUnknownKey();
      return [
        `${head}.${other}.${signature}`,
        `${head}.${payload}.`,
        own.mint({ user: 'uma', lifetimeSeconds: -3_600 }),
        own.mint({ user: 'uma', key: unknown }),
        own.mint({ user: 'uma', key: unknown, header: { kid } }),
        own.mint({ user: 'uma', claims: { iss: 'https://login.evil.example' } }),
        own.mint({ user: 'uma', claims: { aud: 'mail-api' } }),
        own.mintUnsigned({ user: 'uma' }),
        own.mintWithPublicKeyAsSecret({ user: 'uma', text: 'pem' }),
        own.mintIdToken({ user: 'uma' }),
        // What was exchanged for the server is no credential here.
        exchanged,
        'eyJhbGciOiJub25lIn0.e30.',
        'not-a-token',
      ];
    }
  });
}

interface Smuggled {
  readonly body?: object;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** As the provider is asked: MSAL adds what it always adds. */
const SCOPED = { 'entra-secret': `${MAIL_SCOPES} openid profile offline_access`, 'jwt-bearer': MAIL_SCOPES };

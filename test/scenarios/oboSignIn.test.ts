import type { DevUser } from '@behalf/devidp';
import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { subjectSeenByServer } from './oboCaller.ts';
import { startOboRig, type OboRig } from './oboRig.ts';
import {
  createOffsetClock,
  createReauthStatus,
  createSignedInVisitor,
  readSignIn,
  type OboVisitor,
} from './oboSignInVisitor.ts';
import { createUsers } from './users.ts';
import { createTokenCaller } from './tokenCaller.ts';

const users: DevUser[] = Array.from({ length: 20 }, (_, index) => ({
  ...{ id: `user-${index}`, email: `user-${index}@example.test`, name: `User ${index}` },
}));
const demand = (value: string) => JSON.stringify({ access_token: { acrs: { essential: true, value } } });

for (const provider of ['entra-secret', 'jwt-bearer'] as const) {
  describe(`people who sign in at the provider (${provider})`, () => {
    const clock = createOffsetClock();
    let rig: OboRig;
    let next = 0;
    beforeAll(async () => {
      // Without offline_access: what the provider gives ends with the sign-in there.
      const variables = { OPENID_SCOPE: 'openid profile email' };
      rig = await startOboRig({ provider, users, clock, variables });
    }, 60_000);
    beforeEach(() => {
      rig.idp.switches.clear();
      rig.mail.acceptTokens();
      rig.idp.requestLog.clear();
      rig.mail.credentials.clear();
    });
    afterAll(() => rig.close());

    /** Whom no test has met before. */
    const someone = () => {
      next += 1;
      return { id: `user-${next}`, name: `User ${next}` };
    };
    const nothingSent = () => {
      expect(rig.mail.credentials.all()).toEqual([]);
      expect(rig.idp.requestLog.count()).toBe(0);
    };

    test('a browser signs in, calls, and is seen by its own name', async () => {
      const { id, name } = someone();
      const browser = await createSignedInVisitor(rig, id);
      const answer = await browser.call();
      expect(answer).toMatchObject({ status: 200, body: { structuredContent: { name, subject: id } } });
      expect(subjectSeenByServer(await browser.call())).toBe(id);
      expect(rig.idp.requestLog.count()).toBe(1);
      expect(rig.mail.credentials.all()).toMatchObject([{ subject: id, audience: 'mail-api' }]);
    });

    test('what the provider wants proven goes to the next sign-in, once', async () => {
      const { id } = someone();
      const [browser, another] = [
        await createSignedInVisitor(rig, id),
        await createSignedInVisitor(rig, someone().id),
      ];
      rig.idp.requestLog.clear();
      rig.idp.switches.set({ kind: 'claims', claims: demand('c1') }, { user: id });
      const answer = await browser.call();
      expect([answer.status, answer.body.isError]).toEqual([200, true]);
      expect(readSignIn(answer)).toEqual(createReauthStatus('interaction_required'));
      expect(rig.mail.credentials.all()).toEqual([]);
      // What was asked once is not asked again before they have signed in.
      expect(readSignIn(await browser.call())).toEqual(createReauthStatus('interaction_required'));
      expect(rig.idp.requestLog.count()).toBe(1);
      await another.signIn('user-0');
      await browser.signIn(id);
      const [others, own] = rig.idp.requestLog.signIns;
      expect(others?.claims).toBeUndefined();
      expect(JSON.parse(own?.claims ?? '{}')).toMatchObject(JSON.parse(demand('c1')) as object);
      expect(subjectSeenByServer(await browser.call())).toBe(id);
      await browser.signIn(id);
      expect(rig.idp.requestLog.signIns.at(-1)?.claims).toBeUndefined();
    });

    test('and so does what the server wants of a token', async () => {
      const { id } = someone();
      const browser = await createSignedInVisitor(rig, id);
      expect(subjectSeenByServer(await browser.call())).toBe(id);
      rig.mail.requireClaims(demand('c2'));
      expect(readSignIn(await browser.call())).toEqual(createReauthStatus('interaction_required'));
      expect(rig.idp.requestLog.entries.at(-1)?.claims).toContain('c2');
      await browser.signIn(id);
      expect(rig.idp.requestLog.signIns.at(-1)?.claims).toContain('c2');
      expect(subjectSeenByServer(await browser.call())).toBe(id);
    });

    test('who signs out leaves no token that anybody uses', async () => {
      const { id } = someone();
      const [one, other] = [await createSignedInVisitor(rig, id), await createSignedInVisitor(rig, id)];
      expect(subjectSeenByServer(await one.call())).toBe(id);
      const [first] = rig.mail.credentials.all();
      // The other session of the same user has a token of its own.
      expect(subjectSeenByServer(await other.call())).toBe(id);
      expect(rig.idp.requestLog.count()).toBe(2);
      const cookie = [...one.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      expect((await one.post('/api/auth/logout')).status).toBe(204);
      const ended = { ...first };
      const late = await fetch(`${rig.url}/api/mcp/servers/mail/tools/whoami/call`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', 'x-behalf-csrf': '1' },
        body: '{"arguments":{}}',
      });
      expect(late.status).toBe(401);
      expect(subjectSeenByServer(await other.call())).toBe(id);
      const [before, ...more] = rig.mail.credentials.all();
      expect(before).toEqual(ended);
      for (const { subject, acceptedCount: accepted } of more)
        expect([subject, accepted > 0]).toEqual([id, true]);
    });

    test('an API key needs the scope, and somebody who is signed in', async () => {
      const { id } = someone();
      const browser = await createSignedInVisitor(rig, id);
      const keyWith = async (scopes: string[]) => {
        const made = await browser.post('/api/user/keys', { name: 'laptop', scopes });
        const { key } = (await made.json()) as { key: string };
        return createTokenCaller(rig.url, key);
      };
      const [narrow, wide] = [await keyWith(['mcp']), await keyWith(['mcp', 'obo'])];
      expect(await narrow.call('mail', 'whoami')).toMatchObject({
        status: 403,
        body: { code: 'API_KEY_SCOPE' },
      });
      nothingSent();
      expect(subjectSeenByServer(await wide.call('mail', 'whoami'))).toBe(id);
      // What was exchanged for the one with the scope is nothing for the one without.
      expect(await narrow.call('mail', 'whoami')).toMatchObject({ status: 403 });
      await browser.post('/api/auth/logout');
      rig.idp.requestLog.clear();
      rig.mail.credentials.clear();
      expect(readSignIn(await wide.call('mail', 'whoami'))).toEqual(createReauthStatus('absent'));
      nothingSent();
    });

    test('a local account has nothing to exchange', async () => {
      const [local] = await createUsers(rig, [`Local ${provider}`]);
      const answer = await local!.call('mail', 'whoami');
      expect(answer).toMatchObject({ status: 200, body: { isError: true } });
      expect(readSignIn(answer)).toEqual(createReauthStatus('absent'));
      nothingSent();
    });

    test('nor has a program that comes in its own name', async () => {
      const { tokens } = rig.idp.entra ?? rig.idp;
      const program = createTokenCaller(rig.url, tokens.mintAppOnly({ claims: { roles: ['USER'] } }));
      expect(await program.call('mail', 'whoami')).toMatchObject({
        status: 401,
        body: { code: 'OBO_SUBJECT_TOKEN_MISSING' },
      });
      nothingSent();
    });

    // The last one: what the provider gives at a login is close to its end from here on.
    test('a login token at its end is renewed, or a sign-in is needed', async () => {
      const [staying, leaving] = [
        await createSignedInVisitor(rig, 'user-18'),
        await createSignedInVisitor(rig, 'user-19'),
      ];
      for (const browser of [staying, leaving]) expect((await browser.call()).status).toBe(200);
      await leaving.signOutAtProvider(rig.startOptions.variables['OPENID_ISSUER'] ?? '');
      // The provider's own clock does not move: what it renews now must not be over by the time of the others.
      clock.advance(3_570_000);
      // By such a jump nothing is believed that was read before, the list of servers neither.
      const answer = (browser: OboVisitor) =>
        eventually('the list of servers', async () => {
          const said = await browser.call();
          return said.status === 200 && said;
        });
      expect(subjectSeenByServer(await answer(staying))).toBe('user-18');
      // What is refused early costs nothing while the token lives.
      expect(subjectSeenByServer(await answer(leaving))).toBe('user-19');
      rig.mail.credentials.clear();
      rig.idp.requestLog.clear();
      clock.advance(60_000);
      const refused = await answer(leaving);
      expect(refused).toMatchObject({ status: 200, body: { isError: true } });
      expect(readSignIn(refused)).toEqual(createReauthStatus('expired_no_refresh'));
      nothingSent();
    });
  });
}

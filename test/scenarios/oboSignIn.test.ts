import type { DevUser } from '@behalf/devidp';
import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { seenBy } from './oboCaller.ts';
import { startOboScene, type OboScene } from './oboScene.ts';
import {
  createRunningClock,
  needsReauth,
  signedInAt,
  signInOf,
  type OboVisitor,
} from './oboSignInVisitor.ts';
import { createPeople } from './people.ts';
import { tokenCaller } from './tokenCaller.ts';

const users: DevUser[] = Array.from({ length: 20 }, (_, index) => ({
  ...{ id: `user-${index}`, email: `user-${index}@example.test`, name: `User ${index}` },
}));
const demand = (value: string) => JSON.stringify({ access_token: { acrs: { essential: true, value } } });

for (const way of ['entra-secret', 'jwt-bearer'] as const) {
  describe(`people who sign in at the provider (${way})`, () => {
    const clock = createRunningClock();
    let scene: OboScene;
    let next = 0;
    beforeAll(async () => {
      // Without offline_access: what the provider gives ends with the sign-in there.
      const variables = { OPENID_SCOPE: 'openid profile email' };
      scene = await startOboScene({ way, users, clock, variables });
    }, 60_000);
    beforeEach(() => {
      scene.idp.switches.clear();
      scene.mail.acceptTokens();
      scene.idp.requests.clear();
      scene.mail.credentials.clear();
    });
    afterAll(() => scene.close());

    /** Whom no test has met before. */
    const someone = () => {
      next += 1;
      return { id: `user-${next}`, name: `User ${next}` };
    };
    const nothingSent = () => {
      expect(scene.mail.credentials.all()).toEqual([]);
      expect(scene.idp.requests.count()).toBe(0);
    };

    test('a browser signs in, calls, and is seen by its own name', async () => {
      const { id, name } = someone();
      const browser = await signedInAt(scene, id);
      const answer = await browser.call();
      expect(answer).toMatchObject({ status: 200, body: { structuredContent: { name, subject: id } } });
      expect(seenBy(await browser.call())).toBe(id);
      expect(scene.idp.requests.count()).toBe(1);
      expect(scene.mail.credentials.all()).toMatchObject([{ subject: id, audience: 'mail-api' }]);
    });

    test('what the provider wants proven goes to the next sign-in, once', async () => {
      const { id } = someone();
      const [browser, another] = [await signedInAt(scene, id), await signedInAt(scene, someone().id)];
      scene.idp.requests.clear();
      scene.idp.switches.set({ kind: 'claims', claims: demand('c1') }, { user: id });
      const answer = await browser.call();
      expect([answer.status, answer.body.isError]).toEqual([200, true]);
      expect(signInOf(answer)).toEqual(needsReauth('interaction_required'));
      expect(scene.mail.credentials.all()).toEqual([]);
      // What was asked once is not asked again before they have signed in.
      expect(signInOf(await browser.call())).toEqual(needsReauth('interaction_required'));
      expect(scene.idp.requests.count()).toBe(1);
      await another.signIn('user-0');
      await browser.signIn(id);
      const [others, own] = scene.idp.requests.signIns;
      expect(others?.claims).toBeUndefined();
      expect(JSON.parse(own?.claims ?? '{}')).toMatchObject(JSON.parse(demand('c1')) as object);
      expect(seenBy(await browser.call())).toBe(id);
      await browser.signIn(id);
      expect(scene.idp.requests.signIns.at(-1)?.claims).toBeUndefined();
    });

    test('and so does what the server wants of a token', async () => {
      const { id } = someone();
      const browser = await signedInAt(scene, id);
      expect(seenBy(await browser.call())).toBe(id);
      scene.mail.requireClaims(demand('c2'));
      expect(signInOf(await browser.call())).toEqual(needsReauth('interaction_required'));
      expect(scene.idp.requests.entries.at(-1)?.claims).toContain('c2');
      await browser.signIn(id);
      expect(scene.idp.requests.signIns.at(-1)?.claims).toContain('c2');
      expect(seenBy(await browser.call())).toBe(id);
    });

    test('who signs out leaves no token that anybody uses', async () => {
      const { id } = someone();
      const [one, other] = [await signedInAt(scene, id), await signedInAt(scene, id)];
      expect(seenBy(await one.call())).toBe(id);
      const [first] = scene.mail.credentials.all();
      // The other session of the same user has a token of its own.
      expect(seenBy(await other.call())).toBe(id);
      expect(scene.idp.requests.count()).toBe(2);
      const cookie = [...one.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      expect((await one.post('/api/auth/logout')).status).toBe(204);
      const ended = { ...first };
      const late = await fetch(`${scene.url}/api/mcp/servers/mail/tools/whoami/call`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', 'x-behalf-csrf': '1' },
        body: '{"arguments":{}}',
      });
      expect(late.status).toBe(401);
      expect(seenBy(await other.call())).toBe(id);
      const [before, ...more] = scene.mail.credentials.all();
      expect(before).toEqual(ended);
      for (const { subject, accepted } of more) expect([subject, accepted > 0]).toEqual([id, true]);
    });

    test('an API key needs the scope, and somebody who is signed in', async () => {
      const { id } = someone();
      const browser = await signedInAt(scene, id);
      const keyWith = async (scopes: string[]) => {
        const made = await browser.post('/api/user/keys', { name: 'laptop', scopes });
        const { key } = (await made.json()) as { key: string };
        return tokenCaller(scene.url, key);
      };
      const [narrow, wide] = [await keyWith(['mcp']), await keyWith(['mcp', 'obo'])];
      expect(await narrow.call('mail', 'whoami')).toMatchObject({
        status: 403,
        body: { code: 'API_KEY_SCOPE' },
      });
      nothingSent();
      expect(seenBy(await wide.call('mail', 'whoami'))).toBe(id);
      // What was exchanged for the one with the scope is nothing for the one without.
      expect(await narrow.call('mail', 'whoami')).toMatchObject({ status: 403 });
      await browser.post('/api/auth/logout');
      scene.idp.requests.clear();
      scene.mail.credentials.clear();
      expect(signInOf(await wide.call('mail', 'whoami'))).toEqual(needsReauth('absent'));
      nothingSent();
    });

    test('a local account has nothing to exchange', async () => {
      const [local] = await createPeople(scene, [`Local ${way}`]);
      const answer = await local!.call('mail', 'whoami');
      expect(answer).toMatchObject({ status: 200, body: { isError: true } });
      expect(signInOf(answer)).toEqual(needsReauth('absent'));
      nothingSent();
    });

    test('nor has a program that comes in its own name', async () => {
      const { tokens } = scene.idp.entra ?? scene.idp;
      const program = tokenCaller(scene.url, tokens.mintAppOnly({ claims: { roles: ['USER'] } }));
      expect(await program.call('mail', 'whoami')).toMatchObject({
        status: 401,
        body: { code: 'OBO_SUBJECT_TOKEN_MISSING' },
      });
      nothingSent();
    });

    // The last one: what the provider gives at a login is close to its end from here on.
    test('a login token at its end is renewed, or a sign-in is needed', async () => {
      const [staying, leaving] = [await signedInAt(scene, 'user-18'), await signedInAt(scene, 'user-19')];
      for (const browser of [staying, leaving]) expect((await browser.call()).status).toBe(200);
      await leaving.signOutThere(scene.startedWith.variables['OPENID_ISSUER'] ?? '');
      // The provider's own clock does not move: what it renews now must not be over by the time of the others.
      clock.move(3_570_000);
      // By such a jump nothing is believed that was read before, the list of servers neither.
      const answer = (browser: OboVisitor) =>
        eventually('the list of servers', async () => {
          const said = await browser.call();
          return said.status === 200 && said;
        });
      expect(seenBy(await answer(staying))).toBe('user-18');
      // What is refused early costs nothing while the token lives.
      expect(seenBy(await answer(leaving))).toBe('user-19');
      scene.mail.credentials.clear();
      scene.idp.requests.clear();
      clock.move(60_000);
      const refused = await answer(leaving);
      expect(refused).toMatchObject({ status: 200, body: { isError: true } });
      expect(signInOf(refused)).toEqual(needsReauth('expired_no_refresh'));
      nothingSent();
    });
  });
}

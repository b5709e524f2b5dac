import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { seenBy } from './oboCaller.ts';
import { startFaultScene, type FaultScene, type Stranger } from './oboFaultsScene.ts';
import { startRevokingServer, type RevokingServer } from './oboRecoveryServer.ts';
import { tokenCaller } from './tokenCaller.ts';

/** Everything that is asked of a server, each with what of the answer tells that it came. */
const questions: Record<string, [method: string, path: string, body: object | undefined, answer: RegExp]> = {
  'a call': ['POST', 'tools/whoami/call', { arguments: {} }, /"subject":"user-/],
  'a resource': ['POST', 'resources/read', { uri: 'note:one' }, /"text":"one"/],
  'a prompt': ['POST', 'prompts/greet/get', { arguments: {} }, /Hello/],
  'the list of resources': ['GET', 'resources', undefined, /note:one/],
  'the list of templates': ['GET', 'resources/templates', undefined, /note:\{id\}/],
  'the list of prompts': ['GET', 'prompts', undefined, /greet/],
};

for (const way of ['entra-secret', 'jwt-bearer'] as const) {
  describe(`tokens that a server refuses (${way})`, () => {
    let scene: FaultScene;
    let notes: RevokingServer;
    beforeAll(async () => {
      notes = await startRevokingServer();
      const wanted =
        way === 'entra-secret'
          ? "{ scopes: 'api://mail/.default' }"
          : "{ scopes: Mail.Read, audience: 'api://mail' }";
      scene = await startFaultScene(way, {
        addresses: [`127.0.0.1:${notes.port}`],
        yaml: () => `  notes: { type: streamable-http, url: '${notes.url}', obo: ${wanted} }\n`,
      });
    }, 60_000);
    beforeEach(() => {
      notes.takeTokens(true);
      scene.calm();
      notes.forget();
    });
    afterAll(async () => {
      await scene.close();
      await notes.close();
    });

    /** Every request came with a token that was exchanged for this very one. */
    function expectOwn(one: Stranger): void {
      const shown = notes.shown();
      expect(shown).not.toContain(one.token);
      expect(shown.map((token) => token && decodeJwt(token))).toEqual(
        shown.map(() => expect.objectContaining({ sub: one.id, aud: 'mail-api' }) as object),
      );
    }
    async function ask(one: Stranger, [method, path, body]: readonly [string, string, ...unknown[]]) {
      const caller = tokenCaller(scene.url, one.token);
      const response = await caller.send(method, `/api/mcp/servers/notes/${path}`, body);
      return { status: response.status, text: await response.text() };
    }

    test('a first token that is refused: two requests, and it works', async () => {
      const { idp, mail } = scene;
      const one = scene.stranger();
      mail.rejectTokens(1);
      expect(seenBy(await one.call())).toBe(one.id);
      expect(idp.requests.count()).toBe(2);
      expect(mail.credentials.all()).toMatchObject([
        { subject: one.id, times: 1, accepted: 0 },
        { subject: one.id },
      ]);
      expect(seenBy(await one.call())).toBe(one.id);
      expect(idp.requests.count()).toBe(2);
    });

    for (const [what, question] of Object.entries(questions)) {
      test(`${what} with a token that was revoked is asked for again`, async () => {
        const one = scene.stranger();
        expect(await ask(one, question)).toMatchObject({ status: 200 });
        const old = notes.revoke();
        notes.forget();
        scene.idp.requests.clear();
        const { status, text } = await ask(one, question);
        expect([status, text]).toEqual([200, expect.stringMatching(question[3])]);
        expect(scene.idp.requests.count()).toBe(1);
        const [first, second, ...more] = notes.shown();
        expect([first, more]).toEqual([old, []]);
        expect(second).not.toBe(old);
        // The old one is gone for good.
        notes.forget();
        expect(await ask(one, question)).toMatchObject({ status: 200 });
        expect(notes.shown()).toEqual([second]);
        expect(scene.idp.requests.count()).toBe(1);
        expectOwn(one);
      });

      test(`${what} that is refused again is refused`, async () => {
        const one = scene.stranger();
        notes.takeTokens(false);
        const { status, text } = await ask(one, question);
        expect([status, text]).toEqual([502, expect.stringContaining('MCP_CREDENTIAL_REJECTED')]);
        expect(text).not.toContain('not taken here');
        expect(scene.idp.requests.count()).toBe(2);
        expect(notes.requests.filter(({ headers }) => headers.authorization === undefined)).toEqual([]);
        expect(notes.shown()).toHaveLength(2);
        // Neither is kept: the next one is new.
        const [first, second] = notes.shown();
        notes.takeTokens(true);
        notes.forget();
        expect(await ask(one, question)).toMatchObject({ status: 200 });
        expect(scene.idp.requests.count()).toBe(3);
        expect(notes.shown()).not.toContain(first);
        expect(notes.shown()).not.toContain(second);
        expectOwn(one);
      });
    }

    test('and so is the list of tools, when it is asked for anew', async () => {
      const one = scene.stranger();
      expect(seenBy(await one.call('notes'))).toBe(one.id);
      const old = notes.revoke();
      notes.forget();
      scene.idp.requests.clear();
      const again = await tokenCaller(scene.url, one.token).send('POST', '/api/mcp/notes/reinitialize', {});
      expect(await again.json()).toMatchObject({ success: true, tools: [{ name: 'whoami' }] });
      expect(scene.idp.requests.count()).toBe(1);
      expect(notes.shown()).toEqual([old, expect.stringMatching(/^ey/)]);
      expectOwn(one);
    });

    test('many calls with one token that is revoked under them all come through', async () => {
      const one = scene.stranger();
      const call = () => one.call('notes');
      expect(seenBy(await call())).toBe(one.id);
      const old = notes.revoke(12);
      scene.idp.requests.clear();
      const answers = await Promise.all(Array.from({ length: 12 }, call));
      expect(answers.map(({ status, body }) => body.code ?? status)).toEqual(Array(12).fill(200));
      expect(answers.map(seenBy)).toEqual(Array(12).fill(one.id));
      // One exchange is enough for all of them.
      expect(scene.idp.requests.count()).toBe(1);
      notes.forget();
      expect(seenBy(await call())).toBe(one.id);
      expect(notes.shown()).not.toContain(old);
    });

    test('a session that is lost is begun again with the token', async () => {
      const { idp, mail } = scene;
      const one = scene.stranger();
      expect(seenBy(await one.call())).toBe(one.id);
      await mail.dropSessions();
      expect(seenBy(await one.call())).toBe(one.id);
      expect(idp.requests.count()).toBe(1);
      expect(mail.credentials.all()).toMatchObject([{ subject: one.id, audience: 'mail-api' }]);
      const [shown] = mail.credentials.all();
      expect(shown?.accepted).toBe(shown?.times);
    });

    test('the goodbye to a session carries the token of now', async () => {
      const one = scene.stranger();
      expect(seenBy(await one.call('notes'))).toBe(one.id);
      const old = notes.revoke();
      expect(seenBy(await one.call('notes'))).toBe(one.id);
      const now = notes.shown().at(-1) ?? '';
      expect(now).not.toBe(old);
      notes.forget();
      const goodbyes = () => notes.requests.filter(({ verb }) => verb === 'DELETE');
      const before = goodbyes().length;
      const again = await tokenCaller(scene.url, one.token).send('POST', '/api/mcp/notes/reinitialize', {});
      expect(await again.json()).toMatchObject({ success: true, tools: [{ name: 'whoami' }] });
      await eventually('the goodbye', () => goodbyes().length > before || null);
      expect(goodbyes().at(-1)?.headers.authorization).toBe(`Bearer ${now}`);
      expect(notes.shown()).toEqual([now]);
      expectOwn(one);
    });
  });
}

import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { subjectSeenByServer } from './oboCaller.ts';
import { startFaultRig, type FaultRig, type FreshUser } from './oboFaultsRig.ts';
import { startRevokingServer, type RevokingServer } from './oboRecoveryServer.ts';
import { createTokenCaller } from './tokenCaller.ts';

/** Everything that is asked of a server, each with what of the answer tells that it came. */
const questions: Record<string, [method: string, path: string, body: object | undefined, answer: RegExp]> = {
  'a call': ['POST', 'tools/whoami/call', { arguments: {} }, /"subject":"user-/],
  'a resource': ['POST', 'resources/read', { uri: 'note:one' }, /"text":"one"/],
  'a prompt': ['POST', 'prompts/greet/get', { arguments: {} }, /Hello/],
  'the list of resources': ['GET', 'resources', undefined, /note:one/],
  'the list of templates': ['GET', 'resources/templates', undefined, /note:\{id\}/],
  'the list of prompts': ['GET', 'prompts', undefined, /greet/],
};

for (const exchangeMethod of ['entra-secret', 'jwt-bearer'] as const) {
  describe(`tokens that a server refuses (${exchangeMethod})`, () => {
    let rig: FaultRig;
    let notes: RevokingServer;
    beforeAll(async () => {
      notes = await startRevokingServer();
      const wanted =
        exchangeMethod === 'entra-secret'
          ? "{ scopes: 'api://mail/.default' }"
          : "{ scopes: Mail.Read, audience: 'api://mail' }";
      rig = await startFaultRig(exchangeMethod, {
        allowedAddresses: [`127.0.0.1:${notes.port}`],
        yaml: () => `  notes: { type: streamable-http, url: '${notes.url}', obo: ${wanted} }\n`,
      });
    }, 60_000);
    beforeEach(() => {
      notes.acceptTokens(true);
      rig.resetFaults();
      notes.forgetRequests();
    });
    afterAll(async () => {
      await rig.close();
      await notes.close();
    });

    /** Every request came with a token that was exchanged for this very one. */
    function expectOwn(one: FreshUser): void {
      const shown = notes.presentedTokens();
      expect(shown).not.toContain(one.token);
      expect(shown.map((token) => token && decodeJwt(token))).toEqual(
        shown.map(() => expect.objectContaining({ sub: one.id, aud: 'mail-api' }) as object),
      );
    }
    async function ask(one: FreshUser, [method, path, body]: readonly [string, string, ...unknown[]]) {
      const caller = createTokenCaller(rig.url, one.token);
      const response = await caller.send(method, `/api/mcp/servers/notes/${path}`, body);
      return { status: response.status, text: await response.text() };
    }

    test('a first token that is refused: two requests, and it works', async () => {
      const { idp, mail } = rig;
      const one = rig.createUser();
      mail.rejectTokens(1);
      expect(subjectSeenByServer(await one.call())).toBe(one.id);
      expect(idp.requestLog.count()).toBe(2);
      expect(mail.credentials.all()).toMatchObject([
        { subject: one.id, useCount: 1, acceptedCount: 0 },
        { subject: one.id },
      ]);
      expect(subjectSeenByServer(await one.call())).toBe(one.id);
      expect(idp.requestLog.count()).toBe(2);
    });

    for (const [what, question] of Object.entries(questions)) {
      test(`${what} with a token that was revoked is asked for again`, async () => {
        const one = rig.createUser();
        expect(await ask(one, question)).toMatchObject({ status: 200 });
        const old = notes.revokeLast();
        notes.forgetRequests();
        rig.idp.requestLog.clear();
        const { status, text } = await ask(one, question);
        expect([status, text]).toEqual([200, expect.stringMatching(question[3])]);
        expect(rig.idp.requestLog.count()).toBe(1);
        const [first, second, ...more] = notes.presentedTokens();
        expect([first, more]).toEqual([old, []]);
        expect(second).not.toBe(old);
        // The old one is gone for good.
        notes.forgetRequests();
        expect(await ask(one, question)).toMatchObject({ status: 200 });
        expect(notes.presentedTokens()).toEqual([second]);
        expect(rig.idp.requestLog.count()).toBe(1);
        expectOwn(one);
      });

      test(`${what} that is refused again is refused`, async () => {
        const one = rig.createUser();
        notes.acceptTokens(false);
        const { status, text } = await ask(one, question);
        expect([status, text]).toEqual([502, expect.stringContaining('MCP_CREDENTIAL_REJECTED')]);
        expect(text).not.toContain('not taken here');
        expect(rig.idp.requestLog.count()).toBe(2);
        expect(notes.requests.filter(({ headers }) => headers.authorization === undefined)).toEqual([]);
        expect(notes.presentedTokens()).toHaveLength(2);
        // Neither is kept: the next one is new.
        const [first, second] = notes.presentedTokens();
        notes.acceptTokens(true);
        notes.forgetRequests();
        expect(await ask(one, question)).toMatchObject({ status: 200 });
        expect(rig.idp.requestLog.count()).toBe(3);
        expect(notes.presentedTokens()).not.toContain(first);
        expect(notes.presentedTokens()).not.toContain(second);
        expectOwn(one);
      });
    }

    test('and so is the list of tools, when it is asked for anew', async () => {
      const one = rig.createUser();
      expect(subjectSeenByServer(await one.call('notes'))).toBe(one.id);
      const old = notes.revokeLast();
      notes.forgetRequests();
      rig.idp.requestLog.clear();
      const again = await createTokenCaller(rig.url, one.token).send(
        'POST',
        '/api/mcp/notes/reinitialize',
        {},
      );
      expect(await again.json()).toMatchObject({ success: true, tools: [{ name: 'whoami' }] });
      expect(rig.idp.requestLog.count()).toBe(1);
      expect(notes.presentedTokens()).toEqual([old, expect.stringMatching(/^ey/)]);
      expectOwn(one);
    });

    test('many calls with one token that is revoked under them all come through', async () => {
      const one = rig.createUser();
      const call = () => one.call('notes');
      expect(subjectSeenByServer(await call())).toBe(one.id);
      const old = notes.revokeLast(12);
      rig.idp.requestLog.clear();
      const answers = await Promise.all(Array.from({ length: 12 }, call));
      expect(answers.map(({ status, body }) => body.code ?? status)).toEqual(Array(12).fill(200));
      expect(answers.map(subjectSeenByServer)).toEqual(Array(12).fill(one.id));
      // One exchange is enough for all of them.
      expect(rig.idp.requestLog.count()).toBe(1);
      notes.forgetRequests();
      expect(subjectSeenByServer(await call())).toBe(one.id);
      expect(notes.presentedTokens()).not.toContain(old);
    });

    test('a session that is lost is begun again with the token', async () => {
      const { idp, mail } = rig;
      const one = rig.createUser();
      expect(subjectSeenByServer(await one.call())).toBe(one.id);
      await mail.dropSessions();
      expect(subjectSeenByServer(await one.call())).toBe(one.id);
      expect(idp.requestLog.count()).toBe(1);
      expect(mail.credentials.all()).toMatchObject([{ subject: one.id, audience: 'mail-api' }]);
      const [shown] = mail.credentials.all();
      expect(shown?.acceptedCount).toBe(shown?.useCount);
    });

    test('the goodbye to a session carries the token of now', async () => {
      const one = rig.createUser();
      expect(subjectSeenByServer(await one.call('notes'))).toBe(one.id);
      const old = notes.revokeLast();
      expect(subjectSeenByServer(await one.call('notes'))).toBe(one.id);
      const now = notes.presentedTokens().at(-1) ?? '';
      expect(now).not.toBe(old);
      notes.forgetRequests();
      const goodbyes = () => notes.requests.filter(({ verb }) => verb === 'DELETE');
      const before = goodbyes().length;
      const again = await createTokenCaller(rig.url, one.token).send(
        'POST',
        '/api/mcp/notes/reinitialize',
        {},
      );
      expect(await again.json()).toMatchObject({ success: true, tools: [{ name: 'whoami' }] });
      await eventually('the goodbye', () => goodbyes().length > before || null);
      expect(goodbyes().at(-1)?.headers.authorization).toBe(`Bearer ${now}`);
      expect(notes.presentedTokens()).toEqual([now]);
      expectOwn(one);
    });
  });
}

import { systemClock, systemRandom as random } from '@behalf/kernel';
import { openPrimary } from '@behalf/stores/open';
import { eventually } from '@behalf/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAdjustableClock, type AdjustableClock } from './adjustableClock.ts';
import { startAttackRig, extractTokens, type AttackRig, type StoredServer } from './oboAttackersRig.ts';
import { subjectSeenByServer } from './oboCaller.ts';

const HOUR_MS = 60 * 60 * 1000;
/** A timer of exactly this length is over when the test says so. Nobody else has one. */
const HELD_MS = 7_777_777;

/** Everything that can be asked of a server: with a body, it is a POST. */
const questions: Record<string, [path: string, body?: object]> = {
  'a call': ['servers/NAME/tools/whoami/call', { arguments: {} }],
  'a resource': ['servers/NAME/resources/read', { uri: 'note:one' }],
  'a prompt': ['servers/NAME/prompts/greet/get', { arguments: {} }],
  'the list of resources': ['servers/NAME/resources'],
  'the list of templates': ['servers/NAME/resources/templates'],
  'the list of prompts': ['servers/NAME/prompts'],
};

for (const exchangeMethod of ['entra-secret', 'jwt-bearer'] as const) {
  describe(`a server whose author may not decide about tokens any more (${exchangeMethod})`, () => {
    let rig: AttackRig;
    let clock: AdjustableClock;
    let server: StoredServer;
    let otto: string;
    let release: (() => void) | undefined;
    beforeAll(async () => {
      const movable = createAdjustableClock();
      clock = {
        ...movable,
        timer(ms, fn, options) {
          if (ms !== HELD_MS) return movable.timer(ms, fn, options);
          release = fn;
          return () => undefined;
        },
      };
      rig = await startAttackRig(exchangeMethod, {
        clock,
        variables: { OBO_AUTHOR_MAX_AGE: String(2 * HOUR_MS) },
      });
      server = await rig.createServer(
        'otto',
        rig.createOboDefinition(rig.goodServer.url, { title: 'Of Otto' }),
      );
      otto = await rig.signIn('otto');
      // What is counted is what a call costs, not who somebody is.
      await rig.signIn('vic');
    }, 60_000);
    beforeEach(() => rig.forgetRequests());
    afterAll(() => rig.close());

    const change = (user: object) => rig.send('ada', 'PATCH', `/api/admin/users/${otto}`, user);
    const changeRole = (bits: object) =>
      rig.send('ada', 'PATCH', '/api/admin/roles/AUTHOR', { permissions: { MCP_SERVERS: bits } });

    async function expectWorks(): Promise<void> {
      for (const user of ['uma', 'uma'])
        expect(subjectSeenByServer(await rig.callServer(user, server.name))).toBe(user);
      expect(extractTokens(rig.requestsTo(rig.goodServer)).length).toBeGreaterThan(0);
    }

    /** With a token at hand and without one, whatever is asked. */
    async function expectRefused(): Promise<void> {
      // The list of all tools asks the server of the file as well, with a token that is at hand.
      for (const user of ['uma', 'vic'])
        expect(subjectSeenByServer(await rig.callServer(user, 'mail'))).toBe(user);
      rig.forgetRequests();
      for (const user of ['uma', 'vic']) {
        for (const [what, [path, body]] of Object.entries(questions)) {
          const at = `/api/mcp/${path.replace('NAME', server.name)}`;
          const { status, body: responseBody } = await rig.send(user, body ? 'POST' : 'GET', at, body);
          expect([user, what, status, responseBody.code]).toEqual([user, what, 403, 'MCP_OBO_FORBIDDEN']);
        }
        for (const forceNew of [true, false]) {
          const at = `/api/mcp/${server.name}/reinitialize`;
          const { status, body } = await rig.send(user, 'POST', at, { forceNew });
          expect([user, status, body]).toEqual([user, 200, expect.objectContaining({ success: false })]);
          expect(body).not.toHaveProperty('tools.0');
        }
        const { body } = await rig.send(user, 'GET', '/api/mcp/tools');
        const { servers } = body as { servers: Record<string, { tools: unknown[] }> };
        expect(servers[server.name]?.tools ?? []).toEqual([]);
      }
      expect(rig.idp.requestLog.count()).toBe(0);
      expect(rig.requestsTo(rig.goodServer)).toEqual([]);
    }

    const losses: Record<string, { lose: () => Promise<unknown>; regain: () => Promise<unknown> }> = {
      'was given a lesser role': {
        lose: () => change({ role: 'CREATOR' }),
        regain: () => change({ role: 'AUTHOR' }),
      },
      'was disabled': { lose: () => change({ disabled: true }), regain: () => change({ disabled: false }) },
      'has a role that may no more': {
        lose: () => changeRole({ CONFIGURE_OBO: false }),
        regain: () => changeRole({ CONFIGURE_OBO: true }),
      },
    };
    for (const [what, { lose, regain }] of Object.entries(losses)) {
      test(`the author ${what}: from the very next request on nothing is sent`, async () => {
        await expectWorks();
        expect(await lose()).toMatchObject({ status: 200 });
        await expectRefused();
        expect(await regain()).toMatchObject({ status: 200 });
        await expectWorks();
      }, 30_000);
    }

    test('in the middle of a call: its token is not used', async () => {
      rig.idp.switches.set({ kind: 'slow', ms: HELD_MS }, { user: 'vic', times: 1 });
      const call = rig.callServer('vic', server.name);
      const answer = await eventually('the exchange to be under way', () => release);
      await change({ role: 'CREATOR' });
      answer();
      const { status, body } = await call;
      expect([status, body.code]).toEqual([403, 'MCP_OBO_FORBIDDEN']);
      expect(rig.requestsTo(rig.goodServer)).toEqual([]);
      await change({ role: 'AUTHOR' });
    });

    test('the author’s next token says less: what they wrote is refused', async () => {
      expect(await change({ roleSource: 'claim' })).toMatchObject({ status: 200 });
      clock.advance(2_000);
      await rig.signIn('otto');
      await expectWorks();
      const said = rig.setRolesOf('otto', ['CREATOR']);
      clock.advance(2_000);
      await rig.signIn('otto');
      await expectRefused();
      said.reset();
      clock.advance(2_000);
      await rig.signIn('otto');
      clock.advance(2_000);
      await expectWorks();
    }, 30_000);

    test('a role that no token has confirmed for too long counts no more, until one does', async () => {
      clock.advance(2_000);
      await rig.signIn('otto');
      await expectWorks();
      clock.advance(2 * HOUR_MS - 10_000);
      // Their own tokens are new; it is the author's that is old.
      await expectWorks();
      clock.advance(20_000);
      await expectRefused();
      await rig.signIn('otto');
      clock.advance(2_000);
      await expectWorks();
      // What an administrator gave has no end.
      expect(await change({ role: 'AUTHOR' })).toMatchObject({ status: 200 });
      clock.advance(4 * HOUR_MS);
      await expectWorks();
    }, 30_000);

    test('the account of the author is gone from the store', async () => {
      await expectWorks();
      const store = await openPrimary({ dataDir: rig.dataDir }, { clock: systemClock, random });
      try {
        const all = await store.raw.page('users', null, 100);
        await store.raw.remove('users', [otto]);
        await store.changes.publish({ topic: 'users', id: otto });
        await eventually('the news', async () => {
          return (await rig.callServer('uma', server.name)).body.code === 'MCP_OBO_FORBIDDEN' || null;
        });
        await expectRefused();
        await store.raw.put(
          'users',
          all.filter(({ id }) => id === otto),
        );
        await store.changes.publish({ topic: 'users', id: otto });
      } finally {
        await store.close();
      }
    }, 30_000);
  });
}

import type { ChatCall, ConnectNeeded } from '@behalf/contracts';
import type { CallOutcome, UserPrincipal } from '@behalf/gateway';
import { LightCancellation, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock, eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createAnswerRuns } from './answerRuns.ts';
import { SIGN_IN_WAIT_MS } from './limits.ts';
import { createPendingSignIns } from './pendingDecisions.ts';
import { type ChatEventWriter, callWithSignIn } from './runCall.ts';

const authentication = { via: 'session', session: 's' } as const;
const ada: UserPrincipal = { ...aPrincipal(), authentication };
const eve: UserPrincipal = { ...aPrincipal(), userId: 'eve', authentication };
const signIn = {
  code: 'MCP_AUTHORIZATION_REQUIRED',
  text: '',
  server: 'docs',
  reason: 'absent',
  connectUrl: '/servers/docs',
};
const needed: ConnectNeeded = {
  ...{ server: 'docs', title: 'The documents', reason: 'absent', connectUrl: '/servers/docs' },
};
const done: CallOutcome = { kind: 'result', result: { content: [], isError: false }, json: undefined };
const missing = (more: object = {}) =>
  ({ kind: 'auth_required', signIn: { ...signIn, ...more } }) as CallOutcome;

/** A call whose attempts are answered in this order; the last answer stands for all that follow. */
async function rig(answers: readonly CallOutcome[], owner = ada) {
  const clock = createFakeClock();
  const store = openMemoryStore({ clock, random: systemRandom });
  const [cache, changes] = [store.cache('chats'), store.changes];
  const leaving = new LightCancellation();
  const run = createAnswerRuns({ leases: store.leases, cache, changes, clock }).start(owner, leaving);
  await run.lockConversation('c');
  const pendingSignIns = createPendingSignIns({ cache, changes, clock });
  const received: [string, unknown][] = [];
  const emit = Object.assign(
    async (event: string, data: unknown) => void received.push([event, structuredClone(data)]),
    { hint: () => undefined },
  ) as unknown as ChatEventWriter;
  const call: ChatCall = {
    ...{
      callId: '1',
      server: 'docs',
      serverTitle: 'The documents',
      tool: 't',
      arguments: {},
      state: 'running',
    },
  };
  let made = 0;
  const make = async () => {
    made += 1;
    return answers[Math.min(made, answers.length) - 1] ?? done;
  };
  const ended = callWithSignIn({ pendingSignIns, clock }, { run, emit }, call, make).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );
  await clock.advance(0);
  const readReceived = (event: string) => received.filter(([name]) => name === event).map(([, data]) => data);
  /** Time goes on until it is over. */
  async function over() {
    let end: Awaited<typeof ended> | undefined;
    void ended.then((value) => (end = value));
    return eventually('the end', async () => {
      await clock.advance(1_000);
      return end;
    });
  }
  return { clock, running: run, signIns: pendingSignIns, call, readReceived, over, made: () => made };
}

describe('a call of a chat that needs a sign-in', () => {
  test('waits for it, and is made once more when it is there', async () => {
    const one = await rig([missing({ scopes: 'a b' }), done]);
    await eventually('the question', () => one.readReceived('connect').length === 1);
    expect(one.readReceived('connect')).toEqual([
      { callId: '1', connect: { ...needed, scopes: 'a b' }, expiresAt: one.clock.now() + SIGN_IN_WAIT_MS },
    ]);
    expect([one.call.state, one.made()]).toEqual(['waiting', 1]);
    expect(await one.signIns.resolve(ada, 'c', '1', 'connected')).toBe(true);
    expect(await one.over()).toEqual({ answer: done });
    expect([one.call.connect, one.made()]).toEqual([undefined, 2]);
    expect(one.readReceived('tool_call')).toEqual([{ call: { ...one.call, state: 'running' } }]);
    // It waits for nothing any more.
    expect(await one.signIns.resolve(ada, 'c', '1', 'connected')).toBe(false);
  });

  test('goes on without it when its user wants that', async () => {
    const one = await rig([missing()]);
    await eventually('the question', () => one.readReceived('connect').length === 1);
    expect(await one.signIns.resolve(ada, 'c', '1', 'declined')).toBe(true);
    expect(await one.over()).toEqual({ answer: missing() });
    expect([one.call.connect, one.made()]).toEqual([needed, 1]);
  });

  test('goes on without it when nobody signs in', async () => {
    const one = await rig([missing()]);
    await eventually('the question', () => one.readReceived('connect').length === 1);
    await one.clock.advance(SIGN_IN_WAIT_MS);
    expect(await one.over()).toEqual({ answer: missing() });
    expect(one.made()).toBe(1);
  });

  test('is told of by its own user alone, in its own conversation', async () => {
    const one = await rig([missing(), done]);
    await eventually('the question', () => one.readReceived('connect').length === 1);
    expect(await one.signIns.resolve(eve, 'c', '1', 'connected')).toBe(false);
    expect(await one.signIns.resolve({ ...ada, tenant: 'other' }, 'c', '1', 'connected')).toBe(false);
    expect(await one.signIns.resolve(ada, 'd', '1', 'connected')).toBe(false);
    expect(await one.signIns.resolve(ada, 'c', '2', 'connected')).toBe(false);
    expect(one.made()).toBe(1);
    one.running.stop('requested');
    expect(await one.over()).toEqual({ error: one.running.signal.reason });
    expect(await one.signIns.resolve(ada, 'c', '1', 'connected')).toBe(false);
  });

  test('does not wait again and again', async () => {
    const one = await rig([missing()]);
    for (const nth of [1, 2]) {
      await eventually('the question', () => one.readReceived('connect').length === nth);
      expect(await one.signIns.resolve(ada, 'c', '1', 'connected')).toBe(true);
      await one.clock.advance(2_000);
    }
    expect(await one.over()).toEqual({ answer: missing() });
    expect([one.made(), one.readReceived('connect').at(-1)]).toEqual([3, { callId: '1', connect: needed }]);
  });

  test('waits for nobody where nobody can sign in', async () => {
    const key: UserPrincipal = { ...ada, authentication: { via: 'api_key', key: 'k', scopes: ['mcp'] } };
    for (const [answer, owner] of [
      [missing(), key],
      [missing({ connectUrl: null }), ada],
      [missing({ connectUrl: '/oauth/openid' }), ada],
    ] as const) {
      const one = await rig([answer], owner);
      expect(await one.over()).toEqual({ answer });
      expect(one.readReceived('connect')).toEqual([{ callId: '1', connect: one.call.connect }]);
      expect([one.made(), one.call.state]).toEqual([1, 'running']);
    }
  });
});

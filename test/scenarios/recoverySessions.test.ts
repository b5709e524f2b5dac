import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { lastServedToken, createSignedInRig, type SignedInRig } from './grantCalls.ts';
import { createGrantRigs } from './grantRig.ts';
import type { TestUser } from './users.ts';

const createRig = createGrantRigs();

/** A tool that counts how often it ran. */
function counting() {
  const runs = { count: 0 };
  const handler = () => {
    runs.count += 1;
    return { content: [] };
  };
  return { runs, tools: [{ name: 'echo' }, { name: 'write', handler }] };
}

/** What was sent since then: the method, on which session, and whether with the token of before. */
function sentSince({ mcp }: SignedInRig, from: number, { first, old }: { first: unknown; old: string }) {
  return mcp.guardedRequests.slice(from).map(({ request: { message, headers }, bearer, status }) => {
    const session = headers['mcp-session-id'];
    const on = session === undefined ? 'no session' : session === first ? 'the first' : 'another';
    return [message?.method, on, bearer === old ? 'old' : 'new', status];
  });
}

const sessionOf = ({ mcp }: SignedInRig) => mcp.guardedRequests.at(-1)?.request.headers['mcp-session-id'];

describe('a refused token and the session', () => {
  test('a session that lives goes on with the new token', async () => {
    const { runs, tools } = counting();
    const rig = await createSignedInRig(createRig, { mcp: { tools } });
    const { ada, as, mcp } = rig;
    const before = { first: sessionOf(rig), old: lastServedToken(rig) };
    as.endAccessToken(before.old);
    const from = mcp.guardedRequests.length;
    expect((await ada.call('notes', 'write')).body).toMatchObject({ isError: false });
    // It is its user's, whatever the token: nothing that was done in it is lost.
    expect(sentSince(rig, from, before)).toEqual([
      ['tools/call', 'the first', 'old', 401],
      ['tools/call', 'the first', 'new', 'served'],
    ]);
    expect(runs.count).toBe(1);
  });

  test('one that the server ended is begun anew with the new token, and the call runs there alone', async () => {
    const { runs, tools } = counting();
    const rig = await createSignedInRig(createRig, { mcp: { tools } });
    const { ada, as, mcp } = rig;
    const before = { first: sessionOf(rig), old: lastServedToken(rig) };
    as.endAccessToken(before.old);
    mcp.change({
      respond: ({ headers }) => (headers['mcp-session-id'] === before.first ? { status: 404 } : undefined),
    });
    const from = mcp.guardedRequests.length;
    expect((await ada.call('notes', 'write')).body).toMatchObject({ isError: false });
    expect(sentSince(rig, from, before)).toEqual([
      ['tools/call', 'the first', 'old', 401],
      // Let in, and answered 404: it was not run.
      ['tools/call', 'the first', 'new', 'served'],
      ['initialize', 'no session', 'new', 'served'],
      ['notifications/initialized', 'another', 'new', 'served'],
      ['tools/call', 'another', 'new', 'served'],
    ]);
    expect(runs.count).toBe(1);
  });

  test('is asked for anew on the connection that takes its place', async () => {
    let ran = 0;
    const tools = [{ name: 'echo', handler: () => ({ content: [], turn: (ran += 1) }) }];
    const rig = await createSignedInRig(createRig, { mcp: { tools } });
    const { ada, as, mcp } = rig;
    as.endAccessToken(lastServedToken(rig));
    mcp.forgetSessions();
    const from = mcp.guardedRequests.length;
    expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
    const tokens = mcp.guardedRequests
      .slice(from)
      .filter(({ status }) => status === 'served')
      .map(({ bearer }) => bearer);
    // The handshake and the call show the same one.
    expect(new Set(tokens).size).toBe(1);
    expect(ran).toBe(2);
  });
});

describe('a renewal elsewhere', () => {
  test('is found before anything is sent', async () => {
    const rig = await createSignedInRig(createRig);
    const { ada, as, mcp, startReplica } = rig;
    const [there] = (await startReplica()) as [TestUser];
    expect((await there.call('notes', 'echo')).body).toMatchObject({ isError: false });
    const old = lastServedToken(rig);
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const withOld = () =>
      mcp.guardedRequests.filter(
        ({ request, bearer }) => bearer === old && request.message?.params?.['name'] === 'write',
      );
    // Under way with the old one while the first gateway renews it, and refused then.
    mcp.change({
      async respond({ message, headers }) {
        if (message?.params?.['name'] !== 'write' || headers.authorization !== `Bearer ${old}`) return;
        await held;
        return { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } };
      },
    });
    const call = there.call('notes', 'write');
    await eventually('it is under way', () => withOld().length === 1);
    as.endAccessToken(old);
    const { tokenHits } = as.counters;
    expect((await ada.call('notes', 'echo')).body).toMatchObject({ isError: false });
    const renewed = lastServedToken(rig);
    expect(as.counters.tokenHits - tokenHits).toBe(1);
    letGo();
    expect((await call).body).toMatchObject({ isError: false });
    expect(as.counters).toMatchObject({ tokenHits: tokenHits + 1, reuses: 0, familyRevocations: 0 });
    const writes = mcp.guardedRequests.filter(({ request }) => request.message?.params?.['name'] === 'write');
    expect(writes.map(({ bearer }) => bearer)).toEqual([old, renewed]);
  });
});

describe('a shutdown', () => {
  test('while a token is renewed ends the call, and begins no other session', async () => {
    const rig = await createSignedInRig(createRig);
    const { ada, as, mcp, gateway } = rig;
    as.endAccessToken(lastServedToken(rig));
    mcp.forgetSessions();
    const hold = as.hold('token', 'after');
    const call = ada.call('notes', 'echo').then(
      ({ status }) => status,
      () => 'cut off',
    );
    await hold.arrived(1);
    const initializeCount = mcp.received('initialize').length;
    const closing = gateway.close();
    // Answers under way have a second; who waits longer is cut off.
    expect(await call).not.toBe(200);
    hold.release();
    await closing;
    expect(mcp.received('initialize')).toHaveLength(initializeCount);
  });

  test('while a session is begun anew ends that, and begins no other', async () => {
    const { runs, tools } = counting();
    const rig = await createSignedInRig(createRig, { mcp: { tools } });
    const { ada, as, mcp, gateway } = rig;
    as.endAccessToken(lastServedToken(rig));
    mcp.forgetSessions();
    const initializeCount = mcp.received('initialize').length;
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    mcp.change({
      async respond({ message }) {
        if (message?.method !== 'initialize') return;
        await held;
        return 'reset';
      },
    });
    const call = ada.call('notes', 'write').then(
      ({ status }) => status,
      () => 'cut off',
    );
    await eventually('a session is begun', () => mcp.received('initialize').length > initializeCount);
    const ends = () => mcp.requests.filter(({ verb }) => verb === 'DELETE').length;
    const before = ends();
    await gateway.close();
    expect(await call).not.toBe(200);
    const [opening, ...others] = mcp.received('initialize').slice(initializeCount);
    expect(others).toEqual([]);
    // The gateway is gone without an answer to wait for.
    await eventually('it is given up', () => opening?.aborted === true);
    const from = mcp.requests.length;
    letGo();
    expect([runs.count, mcp.requests.length]).toEqual([0, from]);
    // What there was is ended once; of the new one nothing is known that could be.
    expect(ends() - before).toBe(1);
  });
});

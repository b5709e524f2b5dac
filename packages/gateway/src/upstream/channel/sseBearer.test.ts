import { createFakeClock, eventually, scriptedHttpServer } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createCountingBearer, expectFreshTokens, createPendingBearer } from '../../../test/bearerRig.ts';
import {
  sendRequest,
  callChannelTool,
  createChannelRig,
  remoteChannelTarget,
  scriptedTarget,
  type ChannelRig,
} from '../../../test/channelRig.ts';
import { startSseServer, type ScriptedSseServer } from '../../../test/sseServer.ts';
import { startWebSocketServer } from '../../../test/webSocketServer.ts';

const open: { rig: ChannelRig; server: { close(): Promise<void> } }[] = [];
afterEach(async () => {
  for (const { rig, server } of open.splice(0)) {
    await rig.closeAll();
    await server.close();
  }
});

async function start(overrides: Parameters<typeof createChannelRig>[0] = {}) {
  const server = await startSseServer();
  const rig = createChannelRig({ ports: [server.port], ...overrides });
  open.push({ rig, server });
  return { server, rig, target: remoteChannelTarget('sse', server.url) };
}

/** No UpstreamError, and not even an Error of this realm: it must come through untouched. */
const refusal = { code: 'OBO_REJECTED' };
const caught = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const methods = ({ receivedMessages }: ScriptedSseServer) =>
  receivedMessages.map(({ method }) => method ?? 'answer');

describe('a bearer over HTTP+SSE', () => {
  for (const isDeferred of [false, true]) {
    const when = isDeferred ? 'after a moment' : 'at once';

    test(`that answers ${when} is asked for the stream and each message`, async () => {
      const { server, rig, target } = await start();
      const bearer = createCountingBearer('t', { isDeferred });
      const upstream = await rig.open({ ...target, bearer });
      await callChannelTool(upstream, 'tool', {}, { bearer });
      server.send({ id: 'q', method: 'ping' });
      await eventually('it is answered', () => methods(server).includes('answer'));
      server.respond = ({ method }) => method === 'tools/call';
      const caller = new AbortController();
      const slow = callChannelTool(upstream, 'slow', {}, { bearer, signal: caller.signal });
      await eventually('it runs', () => methods(server).filter((m) => m === 'tools/call').length === 2);
      caller.abort();
      await expect(slow).rejects.toMatchObject({ name: 'AbortError' });
      await eventually('it is told', () => methods(server).includes('notifications/cancelled'));
      expect(server.requests.map(({ verb }) => verb)).toEqual(['GET', ...Array<string>(6).fill('POST')]);
      expectFreshTokens(server.requests);
      expect(bearer.tokenRequests).toBe(7);
    });
  }

  test('is asked for the ping that tests a session', async () => {
    const { server, rig, target } = await start();
    const bearer = createCountingBearer();
    const upstream = await rig.open({ ...target, bearer });
    server.refusePost = ({ method }) =>
      method === 'tools/call' ? { status: 400, body: 'Invalid message' } : undefined;
    await expect(callChannelTool(upstream, 'tool', {}, { bearer })).rejects.toMatchObject({
      reason: 'bad_request',
    });
    expect(methods(server)).toContain('ping');
    expectFreshTokens(server.requests);
  });

  test('a token is the only Authorization', async () => {
    const { server, rig, target } = await start();
    const bearer = createCountingBearer();
    const headers = { authorization: 'Bearer a', Authorization: 'Basic b', 'x-team': 'blue' };
    const upstream = await rig.open({ ...target, bearer, headers });
    await callChannelTool(upstream, 'tool', {}, { bearer, headers });
    expect(server.requests).toHaveLength(4);
    for (const { authorizations, headers: sent } of server.requests) {
      expect(authorizations).toEqual([expect.stringMatching(/^Bearer t\d$/)]);
      expect(sent).toMatchObject({ 'x-team': 'blue' });
    }
  });

  test('a request asks its own; the rest asks the latest', async () => {
    const { server, rig, target } = await start();
    const [old, latest] = [createCountingBearer('old'), createCountingBearer('latest')];
    const upstream = await rig.open({ ...target, bearer: old });
    const opening = server.requests.length;
    await Promise.all([
      callChannelTool(upstream, 'a', {}, { bearer: old }),
      callChannelTool(upstream, 'b', {}, { bearer: latest }),
    ]);
    const calls = server.requests.slice(opening).map(({ headers }) => headers.authorization);
    expect(calls.sort()).toEqual(['Bearer latest1', 'Bearer old4']);
    server.send({ id: 'q', method: 'ping' });
    await eventually('it is answered', () => methods(server).includes('answer'));
    await sendRequest(upstream, 'ping');
    expectFreshTokens(server.requests.slice(opening + 2), 'latest');
  });

  test('without a token no stream is opened', async () => {
    const { server, rig, target } = await start();
    const bearer = createCountingBearer();
    bearer.failure = refusal;
    const headers = { authorization: 'Bearer shared' };
    expect(await caught(rig.open({ ...target, bearer, headers }))).toBe(refusal);
    expect(server.requests).toEqual([]);
  });

  for (const [step, left] of [
    ['GET', ['GET']],
    ['initialize', ['GET', 'POST']],
  ] as const) {
    test(`nor a conversation that had it until ${step}`, async () => {
      const { server, rig, target } = await start();
      const bearer = createCountingBearer();
      const getToken = bearer.token.bind(bearer);
      bearer.token = () => {
        if (bearer.tokenRequests === left.length) bearer.failure = refusal;
        return getToken();
      };
      expect(await caught(rig.open({ ...target, bearer }))).toBe(refusal);
      expect(server.requests.map(({ verb }) => verb)).toEqual(left);
    });
  }

  test('a message is not sent, and the next one may be', async () => {
    const { server, rig, target } = await start();
    const bearer = createCountingBearer();
    const headers = { authorization: 'Bearer shared' };
    const upstream = await rig.open({ ...target, bearer, headers });
    const before = server.requests.length;
    bearer.failure = refusal;
    expect(await caught(callChannelTool(upstream, 'tool', {}, { bearer, headers }))).toBe(refusal);
    server.send({ id: 'q', method: 'ping' });
    await eventually('it was asked for an answer', () => bearer.tokenRequests === before + 2);
    expect(server.requests).toHaveLength(before);
    bearer.failure = undefined;
    await callChannelTool(upstream, 'tool', {}, { bearer, headers });
    expectFreshTokens(server.requests);
  });

  test('who gives up while a token is obtained leaves at once', async () => {
    const { server, rig, target } = await start();
    const { bearer, pending } = createPendingBearer();
    const upstream = await rig.open(target);
    const caller = new AbortController();
    const slow = callChannelTool(upstream, 'never', {}, { bearer, signal: caller.signal });
    await eventually('it is asked', () => pending.length === 1);
    caller.abort();
    await expect(slow).rejects.toMatchObject({ name: 'AbortError' });
    pending[0]!.resolve('too-late');
    await callChannelTool(upstream, 'next', {}, { bearer: createCountingBearer('next') });
    expect(methods(server)).toEqual(['initialize', 'notifications/initialized', 'tools/call']);
    expect(JSON.stringify(server.requests)).not.toContain('too-late');
  });

  test('the time that a token takes is not the server’s', async () => {
    const clock = createFakeClock();
    const { server, rig, target } = await start({ clock });
    const { bearer, pending } = createPendingBearer();
    const opening = caught(rig.open({ ...target, bearer }));
    await eventually('it is asked', () => pending.length === 1);
    await clock.advance(30_000);
    expect(await opening).toMatchObject({ reason: 'token_timeout' });
    expect(server.requests).toEqual([]);
    const upstream = await rig.open(target);
    const late = caught(callChannelTool(upstream, 'tool', {}, { bearer }));
    await eventually('it is asked', () => pending.length === 2);
    await clock.advance(20_000);
    expect(await late).toMatchObject({ reason: 'token_timeout' });
    pending[1]!.reject(new Error('nobody hears it'));
    await callChannelTool(upstream, 'next', {}, { bearer: createCountingBearer('next') });
    expect(methods(server)).toEqual(['initialize', 'notifications/initialized', 'tools/call']);
  });

  test('nor is it over streamable HTTP, whatever limit comes first', async () => {
    const clock = createFakeClock();
    const server = await scriptedHttpServer({ era: 'both' });
    const rig = createChannelRig({ ports: [server.port], clock });
    open.push({ rig, server });
    const { bearer, pending } = createPendingBearer();
    const target = { ...remoteChannelTarget('streamable-http', server.url), bearer };
    const opening = caught(rig.open(target, { era: 'auto', initTimeoutMs: 3_000 }));
    await eventually('it is asked', () => pending.length === 1);
    await clock.advance(3_000);
    expect(await opening).toMatchObject({ reason: 'token_timeout' });
    expect(server.requests).toEqual([]);
  });
});

describe('channels that cannot carry a token', () => {
  test('a websocket with a bearer is not opened', async () => {
    const server = await startWebSocketServer();
    const rig = createChannelRig({ ports: [server.port] });
    open.push({ rig, server });
    const bearer = createCountingBearer();
    const target = remoteChannelTarget('websocket', server.url, {
      headers: { authorization: 'Bearer shared' },
    });
    expect(await caught(rig.open({ ...target, bearer }))).toMatchObject({
      name: 'UpstreamError',
      reason: 'bearer_unsupported',
      outcome: 'unreachable',
      code: 'OBO_MISCONFIGURED',
    });
    expect(bearer.tokenRequests).toBe(0);
    expect(server.upgrades).toHaveLength(0);
  });

  test('a request with one does not go out without it', async () => {
    const server = await startWebSocketServer();
    const rig = createChannelRig({ ports: [server.port] });
    open.push({ rig, server });
    const bearer = createCountingBearer();
    for (const target of [remoteChannelTarget('websocket', server.url), scriptedTarget()]) {
      const upstream = await rig.open(target);
      expect(await caught(callChannelTool(upstream, 'tool', {}, { bearer }))).toMatchObject({
        reason: 'bearer_unsupported',
      });
      // Nobody else's requests suffer from it.
      await callChannelTool(upstream, 'pid');
    }
    expect(bearer.tokenRequests).toBe(0);
  });
});

import { afterEach, describe, expect, test } from '@jest/globals';
import { createFakeClock, eventually, type ScriptedRequest } from '@behalf/testkit';
import { createCountingBearer, expectFreshTokens } from '../../../test/bearerRig.ts';
import {
  callHttpTool,
  createHttpRig,
  expectUpstreamError,
  requestOptions,
  stopHttpRigs,
} from '../../../test/httpRig.ts';

afterEach(stopHttpRigs);

const CHANGED = 'notifications/tools/list_changed';
const capabilities = { tools: { listChanged: true } };
const tools = [{ name: 'echo' }];
const named = ({ verb, message }: ScriptedRequest) =>
  message ? (message.method ?? 'answer') : verb.toLowerCase();

/** Presented when the conversation opens and with each request, as the gateway does. */
for (const isDeferred of [false, true]) {
  const when = isDeferred ? 'after a moment' : 'at once';

  describe(`a bearer that answers ${when}`, () => {
    test('is asked for each request of a legacy session', async () => {
      const bearer = createCountingBearer('t', { isDeferred });
      const { server, open } = await createHttpRig({ era: 'legacy', tools });
      const upstream = await open({}, { bearer });
      await callHttpTool(upstream, 'echo', {}, { bearer });
      await callHttpTool(upstream, 'echo', {}, { bearer });
      await upstream.close();
      expect(server.requests.map(named)).toEqual([
        'server/discover',
        'initialize',
        'notifications/initialized',
        'tools/call',
        'tools/call',
        'delete',
      ]);
      expectFreshTokens(server.requests);
      expect(bearer.tokenRequests).toBe(server.requests.length);
    });

    test('is asked for each request of the modern era', async () => {
      const bearer = createCountingBearer('t', { isDeferred });
      const { server, open } = await createHttpRig({ era: 'modern', tools, capabilities });
      const upstream = await open({}, { bearer });
      await callHttpTool(upstream, 'echo', {}, { bearer });
      upstream.listen(() => undefined, { bearer });
      await eventually('it listens', () => server.openStreams === 1);
      await callHttpTool(upstream, 'echo', {}, { bearer });
      expect(server.requests.map(named)).toEqual([
        'server/discover',
        'tools/call',
        'subscriptions/listen',
        'tools/call',
      ]);
      expectFreshTokens(server.requests);
      expect(bearer.tokenRequests).toBe(4);
    });

    for (const era of ['legacy', 'modern'] as const) {
      test(`is asked when a ${era} stream comes back`, async () => {
        const clock = createFakeClock();
        const bearer = createCountingBearer('t', { isDeferred });
        const { server, open } = await createHttpRig({ era, getStream: true, capabilities }, { clock });
        const upstream = await open({}, { bearer });
        upstream.listen(() => undefined, { bearer });
        for (let times = 1; times <= 3; times += 1) {
          await eventually('it opens', () => server.openStreams === 1);
          server.writeOnStreams(`id: e-${times}\ndata: {"jsonrpc":"2.0","method":"${CHANGED}"}\n\n`);
          server.endStreams();
          await eventually('it is closed', () => server.openStreams === 0);
          await eventually('it comes back', async () => {
            await clock.advance(1_000);
            return server.openStreams === 1;
          });
        }
        const opened = server.requests.filter((request) =>
          ['get', 'subscriptions/listen'].includes(named(request)),
        );
        expect(opened).toHaveLength(4);
        if (era === 'legacy') expect(opened[3]!.headers['last-event-id']).toBe('e-3');
        expectFreshTokens(server.requests);
      });
    }

    test('is asked for every step of a lost session', async () => {
      const bearer = createCountingBearer('t', { isDeferred });
      const { server, open } = await createHttpRig({ era: 'legacy', tools, getStream: true });
      const upstream = await open({ era: 'legacy' }, { bearer });
      upstream.listen(() => undefined, { bearer });
      await eventually('it opens', () => server.openStreams === 1);
      server.forgetSessions();
      server.endStreams();
      await callHttpTool(upstream, 'echo', {}, { bearer });
      await eventually('it opens on the new session', () => server.openStreams === 1);
      const seen = server.requests.map(named);
      expect(seen.filter((name) => name === 'initialize')).toHaveLength(2);
      expect(seen.filter((name) => name === 'notifications/initialized')).toHaveLength(2);
      expect(seen.filter((name) => name === 'tools/call')).toHaveLength(2);
      await upstream.close();
      expect(server.requests.map(named)).toContain('delete');
      expectFreshTokens(server.requests);
    });

    test('is asked for the ping that tests a session', async () => {
      const bearer = createCountingBearer('t', { isDeferred });
      let known = false;
      const { server, open } = await createHttpRig({
        era: 'legacy',
        tools,
        respond: ({ verb, message, headers }) => {
          if (message?.method === 'initialize') known = server.received('initialize').length > 1;
          const handshake = message?.method === 'notifications/initialized' || verb === 'DELETE';
          if (headers['mcp-session-id'] === undefined || known || handshake) return undefined;
          const error = { code: -32000, message: 'No valid session ID provided' };
          return { status: 400, body: { jsonrpc: '2.0', id: message?.id, error } };
        },
      });
      await callHttpTool(await open({ era: 'legacy' }, { bearer }), 'echo', {}, { bearer });
      // The old session may live on at the server, which is told.
      await eventually('it is ended', () => server.requests.some(({ verb }) => verb === 'DELETE'));
      expect(server.received('ping')).toHaveLength(1);
      expectFreshTokens(server.requests);
    });

    test('is asked when 409 makes a new session', async () => {
      const bearer = createCountingBearer('t', { isDeferred });
      const { server, open } = await createHttpRig({
        era: 'legacy',
        respond: ({ verb }) => (verb === 'GET' ? { status: 409 } : undefined),
      });
      const upstream = await open({ era: 'legacy' }, { bearer });
      upstream.listen(() => undefined, { bearer });
      const gets = () => server.requests.filter(({ verb }) => verb === 'GET').length;
      await eventually('it is asked for again', () => gets() === 2);
      expect(server.requests.filter(({ verb }) => verb === 'DELETE')).toHaveLength(1);
      expectFreshTokens(server.requests);
    });

    test('is asked for answers to the server’s questions', async () => {
      const bearer = createCountingBearer('t', { isDeferred });
      const asks = {
        name: 'asks',
        handler: async (_: unknown, call: { sendRequest(m: string, p: object): Promise<unknown> }) => {
          await call.sendRequest('ping', {});
          await call.sendRequest('elicitation/create', {});
          return { content: [] };
        },
      };
      const { server, open } = await createHttpRig({ era: 'legacy', tools: [asks], getStream: true });
      const upstream = await open({}, { bearer });
      await callHttpTool(upstream, 'asks', {}, { bearer });
      upstream.listen(() => undefined, { bearer });
      await eventually('it opens', () => server.openStreams === 1);
      expect((await server.sendRequestOnStreams('ping', {})).result).toEqual({});
      expect(server.requests.filter((request) => named(request) === 'answer')).toHaveLength(3);
      expectFreshTokens(server.requests);
    });

    test('is asked for the word that a call is given up', async () => {
      const bearer = createCountingBearer('t', { isDeferred });
      const slow = { name: 'slow', handler: () => new Promise<never>(() => undefined) };
      const { server, open } = await createHttpRig({ era: 'legacy', tools: [slow] });
      const upstream = await open({}, { bearer });
      const caller = new AbortController();
      const call = callHttpTool(upstream, 'slow', {}, { bearer, signal: caller.signal });
      await eventually('it runs', () => server.received('tools/call').length === 1);
      caller.abort();
      await expect(call).rejects.toMatchObject({ name: 'AbortError' });
      await eventually('it is told', () => server.received('notifications/cancelled').length === 1);
      expectFreshTokens(server.requests);
    });
  });
}

describe('whose bearer it is', () => {
  test('a request asks the one that it brings', async () => {
    const [first, second] = [createCountingBearer('first'), createCountingBearer('second')];
    const { server, open } = await createHttpRig({ era: 'legacy', tools });
    const upstream = await open({}, { bearer: first });
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        callHttpTool(upstream, 'echo', { i }, { bearer: i % 2 === 0 ? first : second }),
      ),
    );
    for (const { message, headers } of server.received('tools/call')) {
      const { i } = message!.params!['arguments'] as { i: number };
      expect(headers.authorization).toMatch(i % 2 === 0 ? /^Bearer first\d+$/ : /^Bearer second\d+$/);
    }
  });

  test('what nobody asked for goes out with the latest', async () => {
    const [old, latest] = [createCountingBearer('old'), createCountingBearer('latest')];
    const { server, open } = await createHttpRig({ era: 'legacy', tools, getStream: true });
    const upstream = await open({}, { bearer: old });
    await callHttpTool(upstream, 'echo', {}, { bearer: latest });
    upstream.listen(() => undefined, {});
    await eventually('it opens', () => server.openStreams === 1);
    await server.sendRequestOnStreams('ping', {});
    // A request that brings none is not sent without one.
    await upstream.request('ping', {}, requestOptions());
    server.forgetSessions();
    await upstream.request('ping', {}, requestOptions());
    await upstream.close();
    const after = server.requests.slice(server.requests.findIndex(({ verb }) => verb === 'GET'));
    expect(after.map(named)).toEqual(
      expect.arrayContaining(['get', 'answer', 'ping', 'initialize', 'delete']),
    );
    expectFreshTokens(after, 'latest');
    expect(old.tokenRequests).toBe(3);
  });

  test('also when it is sent again, after others', async () => {
    const [own, latest] = [createCountingBearer('own'), createCountingBearer('latest')];
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let calls = 0;
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools,
      respond: async ({ message }) => {
        if (message?.method !== 'tools/call') return undefined;
        calls += 1;
        if (calls > 1) return undefined;
        await held;
        return { status: 404 };
      },
    });
    const upstream = await open({}, { bearer: own });
    const first = callHttpTool(upstream, 'echo', { who: 'own' }, { bearer: own });
    await eventually('it is held', () => calls === 1);
    await callHttpTool(upstream, 'echo', { who: 'latest' }, { bearer: latest });
    release();
    await first;
    const again = server.requests.slice(-3);
    expect(again.map(named)).toEqual(['initialize', 'notifications/initialized', 'tools/call']);
    expectFreshTokens(again, 'own');
  });

  test('a listener’s is the latest, too', async () => {
    const [old, latest] = [createCountingBearer('old'), createCountingBearer('latest')];
    const { server, open } = await createHttpRig({ era: 'legacy', getStream: true });
    const upstream = await open({}, { bearer: old });
    upstream.listen(() => undefined, { bearer: latest });
    await eventually('it opens', () => server.openStreams === 1);
    await upstream.close();
    const after = server.requests.slice(server.requests.findIndex(({ verb }) => verb === 'GET'));
    expect(after.map(named)).toEqual(['get', 'delete']);
    expectFreshTokens(after, 'latest');
  });

  test('a cancelled call is cancelled by its own caller', async () => {
    const [own, latest] = [createCountingBearer('own'), createCountingBearer('latest')];
    const slow = { name: 'slow', handler: () => new Promise<never>(() => undefined) };
    const { server, open } = await createHttpRig({ era: 'legacy', tools: [slow, ...tools] });
    const upstream = await open({}, { bearer: own });
    const caller = new AbortController();
    const call = callHttpTool(upstream, 'slow', {}, { bearer: own, signal: caller.signal });
    await eventually('it runs', () => server.received('tools/call').length === 1);
    await callHttpTool(upstream, 'echo', {}, { bearer: latest });
    caller.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    const cancellation = await eventually('it is told', () => server.received('notifications/cancelled')[0]);
    expect(cancellation.headers.authorization).toMatch(/^Bearer own/);
  });

  test('a refused token is not sent again by itself', async () => {
    const bearer = createCountingBearer();
    const { server, open } = await createHttpRig({
      era: 'legacy',
      respond: ({ message }) => (message?.method === 'tools/call' ? { status: 401 } : undefined),
    });
    const upstream = await open({}, { bearer });
    expect((await expectUpstreamError(callHttpTool(upstream, 'x', {}, { bearer }))).reason).toBe(
      'unauthorized',
    );
    expect(server.received('tools/call')).toHaveLength(1);
    expectFreshTokens(server.requests);
  });
});

import { afterEach, describe, expect, test } from '@jest/globals';
import { createFakeClock, eventually } from '@behalf/testkit';
import { openHttpUpstream } from './negotiate.ts';
import { callHttpTool, createHttpRig, requestOptions, stopHttpRigs } from '../../../test/httpRig.ts';

afterEach(stopHttpRigs);

const CHANGED = 'notifications/tools/list_changed';
const capabilities = { tools: { listChanged: true } };
const gets = ({ requests }: { requests: readonly { verb: string }[] }) =>
  requests.filter(({ verb }) => verb === 'GET').length;

describe('the stream of a session', () => {
  test('is open only while somebody listens', async () => {
    const { server, open } = await createHttpRig({ era: 'legacy', getStream: true });
    const upstream = await open({}, { headers: { 'x-team': 'blue' } });
    const receivedNotifications: string[] = [];
    const hear = ({ method }: { method: string }) => void receivedNotifications.push(method);
    const stops = [
      upstream.listen(hear, { headers: { authorization: 'Bearer l' } }),
      upstream.listen(hear, {}),
    ];
    await eventually('it opens', () => server.openStreams === 1);
    server.push(CHANGED);
    await eventually('both hear it', () => receivedNotifications.length === 2);
    const [get] = server.requests.filter(({ verb }) => verb === 'GET');
    expect(get!.headers).toMatchObject({
      accept: 'text/event-stream',
      'mcp-session-id': [...server.sessions][0],
      'mcp-protocol-version': '2025-11-25',
      'x-team': 'blue',
      authorization: 'Bearer l',
    });
    stops[0]!();
    server.push(CHANGED);
    await eventually('one hears it', () => receivedNotifications.length === 3);
    stops[1]!();
    stops[1]!();
    await eventually('it closes', () => server.openStreams === 0);
    const again = upstream.listen(hear, {});
    await eventually('it opens again', () => server.openStreams === 1);
    again();
    expect(gets(server)).toBe(2);
  });

  test('only changes of lists leave it; a log goes to the operator without its words', async () => {
    const { server, open, logged } = await createHttpRig({
      era: 'legacy',
      getStream: true,
      tools: [{ name: 'echo' }],
    });
    const upstream = await open();
    const receivedNotifications: string[] = [];
    const own: unknown[] = [];
    upstream.listen(({ method }) => void receivedNotifications.push(method), {});
    await eventually('it opens', () => server.openStreams === 1);
    server.push('notifications/message', { level: 'error', data: 'the secret of a user' });
    server.push('notifications/message', { level: 'the secret of a user' });
    server.push('notifications/progress', { progressToken: 1, progress: 1 });
    server.push('notifications/resources/updated', { uri: 'secret://a' });
    server.writeOnStreams('data: <html>\n\n');
    server.push(CHANGED);
    await callHttpTool(
      upstream,
      'echo',
      {},
      { onLog: (p) => void own.push(p), onProgress: (p) => void own.push(p) },
    );
    await eventually('the change', () => receivedNotifications.length > 0);
    expect(receivedNotifications).toEqual([CHANGED]);
    expect(own).toEqual([]);
    expect(logged).toEqual([
      ['upstream_server_log', { server: 'scripted', level: 'error' }],
      ['upstream_server_log', { server: 'scripted', level: 'unknown' }],
    ]);
  });

  test('a flood of log messages on it is a hundred lines, then twenty a second; the rest is a number', async () => {
    const clock = createFakeClock();
    const { server, open, logged } = await createHttpRig({ era: 'legacy', getStream: true }, { clock });
    const upstream = await open();
    let receivedCount = 0;
    const stop = upstream.listen(() => (receivedCount += 1), {});
    await eventually('it opens', () => server.openStreams === 1);
    const flood = async () => {
      const before = receivedCount;
      for (let i = 0; i < 500; i += 1) server.push('notifications/message', { level: 'info', data: i });
      server.push(CHANGED);
      await eventually('all of it has come', () => receivedCount > before);
    };
    const countServerLogs = () => logged.filter(([event]) => event === 'upstream_server_log').length;
    const left = () => logged.flatMap(([event, { count }]) => (event.endsWith('_dropped') ? [count] : []));
    await flood();
    expect([countServerLogs(), left()]).toEqual([100, []]);
    await clock.advance(1_000);
    expect([countServerLogs(), left()]).toEqual([100, [400]]);
    await flood();
    expect([countServerLogs(), left()]).toEqual([120, [400]]);
    // What is still to be told is told at the end.
    stop();
    expect([countServerLogs(), left()]).toEqual([120, [400, 480]]);
  });

  test('a ping is answered, a form dismissed, a model refused', async () => {
    const { server, open } = await createHttpRig({ era: 'legacy', getStream: true });
    const upstream = await open();
    upstream.listen(() => undefined, {});
    await eventually('it opens', () => server.openStreams === 1);
    expect((await server.sendRequestOnStreams('ping', {})).result).toEqual({});
    expect((await server.sendRequestOnStreams('ping', {})).result).toEqual({});
    expect((await server.sendRequestOnStreams('elicitation/create', {})).result).toEqual({
      action: 'cancel',
    });
    expect((await server.sendRequestOnStreams('sampling/createMessage', {})).error?.code).toBe(-32601);
  });

  for (const status of [404, 405, 406, 400, 401]) {
    test(`${status} is remembered`, async () => {
      const { server, open, logged } = await createHttpRig({
        era: 'legacy',
        respond: ({ verb }) => (verb === 'GET' ? { status } : undefined),
      });
      const upstream = await open();
      const stop = upstream.listen(() => undefined, {});
      await eventually('it was asked for', () => gets(server) === 1);
      await upstream.request('ping', {}, requestOptions());
      stop();
      upstream.listen(() => undefined, {});
      await upstream.request('ping', {}, requestOptions());
      expect(gets(server)).toBe(1);
      expect(logged).toHaveLength(status === 400 || status === 401 ? 1 : 0);
    });
  }

  test('comes back with the last id after the time that the server asks for', async () => {
    const clock = createFakeClock();
    const { server, open } = await createHttpRig({ era: 'legacy', getStream: true }, { clock });
    const upstream = await open();
    const receivedNotifications: string[] = [];
    upstream.listen(({ method }) => void receivedNotifications.push(method), {});
    await eventually('it opens', () => server.openStreams === 1);
    server.writeOnStreams(`retry: 5000\nid: e-7\ndata: {"jsonrpc":"2.0","method":"${CHANGED}"}\n\n`);
    await eventually('it is heard', () => receivedNotifications.length === 1);
    server.endStreams();
    await eventually('it is closed', () => server.openStreams === 0);
    await clock.advance(4_900);
    expect(gets(server)).toBe(1);
    await clock.advance(100);
    await eventually('it opens again', () => server.openStreams === 1);
    const last = server.requests.filter(({ verb }) => verb === 'GET').at(-1)!;
    expect(last.headers['last-event-id']).toBe('e-7');
  });

  test('waits longer after each failure, but never more than 30 s', async () => {
    const clock = createFakeClock();
    const { server, parts, target, eraVerdicts } = await createHttpRig(
      { era: 'legacy', respond: ({ verb }) => (verb === 'GET' ? { status: 503 } : undefined) },
      { clock },
    );
    const upstream = await openHttpUpstream(
      target,
      {
        server: 's',
        owner: undefined,
        era: 'auto',
        initTimeoutMs: 5_000,
        signal: new AbortController().signal,
      },
      { ...parts, random: { ...parts.random, uniform: () => 0.999 } },
      eraVerdicts,
    );
    upstream.listen(() => undefined, {});
    for (const [n, wait] of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
      await eventually('it is asked for', () => gets(server) === n + 1);
      await clock.advance(wait * 0.99);
      expect(gets(server)).toBe(n + 1);
      await clock.advance(wait * 0.01);
    }
    await eventually('it is asked for', () => gets(server) === 7);
    const closing = upstream.close();
    await closing;
    await clock.advance(120_000);
    expect(gets(server)).toBe(7);
  });

  test('a stream that is silent for too long is opened anew', async () => {
    const clock = createFakeClock();
    const { server, open } = await createHttpRig({ era: 'legacy', getStream: true }, { clock });
    const upstream = await open({}, { sseReadTimeoutMs: 60_000 });
    let receivedCount = 0;
    upstream.listen(() => (receivedCount += 1), {});
    await eventually('it opens', () => server.openStreams === 1);
    await clock.advance(50_000);
    server.push(CHANGED);
    await eventually('it is heard', () => receivedCount === 1);
    await clock.advance(50_000);
    expect(server.openStreams).toBe(1);
    expect(gets(server)).toBe(1);
    await clock.advance(10_000);
    await eventually('it is closed', () => server.openStreams === 0);
    await clock.advance(30_000);
    await eventually('it opens again', () => gets(server) === 2);
  });

  test('409 makes one new session, and not another', async () => {
    const { server, open } = await createHttpRig({
      era: 'legacy',
      respond: ({ verb }) => (verb === 'GET' ? { status: 409 } : undefined),
    });
    const upstream = await open();
    const [first] = server.sessions;
    upstream.listen(() => undefined, {});
    await eventually('a new session', () => server.received('notifications/initialized').length === 2);
    await eventually('it is asked for again', () => gets(server) === 2);
    // Its answer has to be heard before a call is under way: under one nothing would be begun anyway.
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await upstream.request('ping', {}, requestOptions());
    expect(server.sessions.has(first!)).toBe(false);
    expect(server.sessions.size).toBe(1);
    expect(server.received('initialize')).toHaveLength(2);
    expect(server.requests.filter(({ verb }) => verb === 'DELETE')).toHaveLength(1);
  });

  test('and none under a call that opened the stream', async () => {
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools: [{ name: 'echo' }],
      respond: ({ verb }) => (verb === 'GET' ? { status: 409 } : undefined),
    });
    const upstream = await open({ owner: 'ann' });
    const dialogue = {
      ...{ era: 'legacy' as const, capabilities: { elicitation: { form: {} } } },
      sendRequest: () => Promise.resolve({ action: 'cancel' }),
    };
    await upstream.request('tools/call', { name: 'echo', arguments: {} }, { ...requestOptions(), dialogue });
    expect(gets(server)).toBe(1);
    expect(server.requests.filter(({ verb }) => verb === 'DELETE')).toEqual([]);
    expect(server.received('initialize')).toHaveLength(1);
    await upstream.close();
  });

  test('follows the session when a call makes a new one', async () => {
    const { server, open } = await createHttpRig({ era: 'legacy', getStream: true });
    const upstream = await open();
    const receivedNotifications: string[] = [];
    upstream.listen(({ method }) => void receivedNotifications.push(method), {});
    await eventually('it opens', () => server.openStreams === 1);
    server.forgetSessions();
    server.endStreams();
    await upstream.request('ping', {}, requestOptions());
    await eventually('it opens again', () => server.openStreams === 1);
    const last = server.requests.filter(({ verb }) => verb === 'GET').at(-1)!;
    expect(last.headers['mcp-session-id']).toBe([...server.sessions][0]);
    server.push(CHANGED);
    await eventually('it is heard', () => receivedNotifications.length === 1);
  });
});

describe('a modern subscription', () => {
  test('each listener has a stream with its own credential', async () => {
    const { server, open } = await createHttpRig({ era: 'modern', capabilities });
    const upstream = await open();
    const receivedNotifications: string[] = [];
    const stops = ['a', 'b'].map((who) =>
      upstream.listen(({ method }) => void receivedNotifications.push(`${who} ${method}`), {
        headers: { authorization: who },
      }),
    );
    await eventually('both open', () => server.openStreams === 2);
    expect(server.received('subscriptions/listen').map(({ headers }) => headers.authorization)).toEqual([
      'a',
      'b',
    ]);
    expect(server.received('subscriptions/listen')[0]!.message!.params).toMatchObject({
      notifications: { toolsListChanged: true },
      _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
    });
    server.push(CHANGED);
    await eventually('both hear it', () => receivedNotifications.length === 2);
    expect(receivedNotifications.sort()).toEqual([`a ${CHANGED}`, `b ${CHANGED}`]);
    stops[0]!();
    await eventually('one closes', () => server.openStreams === 1);
    await upstream.close();
    await eventually('the other closes', () => server.openStreams === 0);
  });

  test('a server that announces nothing is not asked', async () => {
    const { server, open } = await createHttpRig({ era: 'modern', tools: [{ name: 'echo' }] });
    const upstream = await open();
    upstream.listen(() => undefined, {});
    await callHttpTool(upstream, 'echo');
    expect(server.received('subscriptions/listen')).toEqual([]);
  });

  test('a server that refuses is not asked again', async () => {
    const clock = createFakeClock();
    const { server, open } = await createHttpRig(
      {
        era: 'modern',
        capabilities,
        respond: ({ message }) => (message?.method === 'subscriptions/listen' ? { status: 404 } : undefined),
      },
      { clock },
    );
    const upstream = await open();
    upstream.listen(() => undefined, {});
    await eventually('it is asked', () => server.received('subscriptions/listen').length === 1);
    await clock.advance(120_000);
    expect(server.received('subscriptions/listen')).toHaveLength(1);
  });
});

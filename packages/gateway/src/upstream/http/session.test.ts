import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually, type ScriptedTool } from '@behalf/testkit';
import { callHttpTool, createHttpRig, expectUpstreamError, stopHttpRigs } from '../../../test/httpRig.ts';

afterEach(stopHttpRigs);

/** A tool that counts how often it ran. */
function counter() {
  let ran = 0;
  const tool: ScriptedTool = {
    name: 'count',
    handler: () => {
      ran += 1;
      return { content: [] };
    },
  };
  return { tool, ran: () => ran };
}
const lost = (id: unknown, code = -32000) => ({
  status: 400,
  body: { jsonrpc: '2.0', id, error: { code, message: 'Bad Request: No valid session ID provided' } },
});

describe('a session', () => {
  test('the first call after a loss succeeds and runs once', async () => {
    const { tool, ran } = counter();
    const { server, open } = await createHttpRig({ era: 'legacy', tools: [tool] });
    const upstream = await open();
    await callHttpTool(upstream, 'count');
    server.forgetSessions();
    await callHttpTool(upstream, 'count');
    expect(ran()).toBe(2);
    expect(server.received('tools/call')).toHaveLength(3);
    expect(server.received('initialize')).toHaveLength(2);
  });

  test('many calls that find it lost share one hand-shake', async () => {
    const { tool, ran } = counter();
    const { server, open } = await createHttpRig({ era: 'legacy', tools: [tool] });
    const upstream = await open();
    server.forgetSessions();
    await Promise.all(Array.from({ length: 25 }, () => callHttpTool(upstream, 'count')));
    expect(ran()).toBe(25);
    expect(server.received('initialize')).toHaveLength(2);
    expect(server.received('tools/call')).toHaveLength(50);
    expect(server.sessions.size).toBe(1);
  });

  test('a late refusal of an old session opens no further one', async () => {
    const { tool } = counter();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let first = true;
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools: [tool],
      respond: async ({ message }) => {
        if (message?.method !== 'tools/call' || !first) return undefined;
        first = false;
        await held;
        return { status: 404 };
      },
    });
    const upstream = await open();
    const late = callHttpTool(upstream, 'count');
    await eventually('the first is held', () => !first);
    server.forgetSessions();
    await callHttpTool(upstream, 'count');
    expect(server.received('initialize')).toHaveLength(2);
    release();
    await late;
    expect(server.received('initialize')).toHaveLength(2);
  });

  test('a session that is lost again at once is an error, not a loop', async () => {
    const { server, open } = await createHttpRig({
      era: 'legacy',
      respond: ({ message }) => (message?.method === 'tools/call' ? { status: 404 } : undefined),
    });
    expect(await expectUpstreamError(callHttpTool(await open(), 'x'))).toMatchObject({
      reason: 'session_lost',
      outcome: 'refused',
    });
    expect(server.received('tools/call')).toHaveLength(2);
    expect(server.received('initialize')).toHaveLength(2);
  });

  test("the new hand-shake carries the caller's credential", async () => {
    const { tool } = counter();
    const { server, open } = await createHttpRig({ era: 'legacy', tools: [tool] });
    const upstream = await open({}, { headers: { authorization: 'Bearer old' } });
    server.forgetSessions();
    await callHttpTool(upstream, 'count', {}, { headers: { authorization: 'Bearer new' } });
    expect(server.received('initialize').map(({ headers }) => headers.authorization)).toEqual([
      'Bearer old',
      'Bearer new',
    ]);
    await upstream.close();
    const deleted = server.requests.find(({ verb }) => verb === 'DELETE')!;
    expect(deleted.headers.authorization).toBe('Bearer new');
  });

  test('a new hand-shake that is refused is that refusal', async () => {
    let refuse = false;
    const { server, open } = await createHttpRig({
      era: 'legacy',
      respond: ({ message }) =>
        refuse && message?.method === 'initialize'
          ? { status: 401, headers: { 'www-authenticate': 'Bearer scope="s"' } }
          : undefined,
    });
    const upstream = await open();
    server.forgetSessions();
    refuse = true;
    expect(await expectUpstreamError(callHttpTool(upstream, 'x'))).toMatchObject({
      reason: 'unauthorized',
      outcome: 'refused',
      detail: { challenge: { scope: 's' } },
    });
    refuse = false;
    expect(await expectUpstreamError(callHttpTool(upstream, 'x'))).toMatchObject({ reason: 'rpc_error' });
  });

  test('who leaves during the new hand-shake leaves at once', async () => {
    let hang = false;
    const { server, open } = await createHttpRig({
      era: 'legacy',
      respond: ({ message }) => (hang && message?.method === 'initialize' ? 'hang' : undefined),
    });
    const upstream = await open();
    server.forgetSessions();
    hang = true;
    const caller = new AbortController();
    const call = callHttpTool(upstream, 'x', {}, { signal: caller.signal });
    await eventually('the hand-shake hangs', () => server.received('initialize').length === 2);
    caller.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('400 is a lost session when a ping on it is refused too', async () => {
    const { tool, ran } = counter();
    let known = false;
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools: [tool],
      respond: ({ message, headers }) => {
        if (message?.method === 'initialize') known = server.received('initialize').length > 1;
        return headers['mcp-session-id'] !== undefined &&
          !known &&
          message?.method !== 'notifications/initialized'
          ? lost(message?.id)
          : undefined;
      },
    });
    await callHttpTool(await open(), 'count');
    expect(ran()).toBe(1);
    expect(server.received('ping')).toHaveLength(1);
    expect(server.received('initialize')).toHaveLength(2);
  });

  test('400 on a session that lives is about the request: nothing is sent again', async () => {
    for (const id of ['own', 'null']) {
      const { server, open } = await createHttpRig({
        era: 'legacy',
        respond: ({ message }) =>
          message?.method === 'tools/call' ? lost(id === 'own' ? message.id : null) : undefined,
      });
      expect((await expectUpstreamError(callHttpTool(await open(), 'x'))).reason).toBe(
        id === 'own' ? 'rpc_error' : 'bad_request',
      );
      expect(server.received('tools/call')).toHaveLength(1);
      expect(server.received('initialize')).toHaveLength(1);
    }
  });

  test('404 with the id of the request is its answer, not a loss', async () => {
    for (const code of [-32002, -32601, -32603, 7]) {
      const { server, open } = await createHttpRig({
        era: 'legacy',
        respond: ({ message }) =>
          message?.method === 'tools/call' ? { ...lost(message.id, code), status: 404 } : undefined,
      });
      const upstream = await open();
      for (let i = 0; i < 2; i += 1) {
        expect(await expectUpstreamError(callHttpTool(upstream, 'x'))).toMatchObject({
          reason: 'rpc_error',
          detail: { rpc: { code } },
        });
      }
      expect(server.received('tools/call')).toHaveLength(2);
      expect(server.received('ping')).toHaveLength(0);
      expect(server.received('initialize')).toHaveLength(1);
    }
  });

  test('a code that may mean the session is asked about first', async () => {
    for (const code of [-32000, -32001]) {
      const { server, open } = await createHttpRig({
        era: 'legacy',
        respond: ({ message }) =>
          message?.method === 'tools/call' ? { ...lost(message.id, code), status: 404 } : undefined,
      });
      expect((await expectUpstreamError(callHttpTool(await open(), 'x'))).reason).toBe('rpc_error');
      expect(server.received('ping')).toHaveLength(1);
      expect(server.received('tools/call')).toHaveLength(1);
      expect(server.received('initialize')).toHaveLength(1);
    }
  });

  test('also when another call has renewed the session meanwhile', async () => {
    const { tool, ran } = counter();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let calls = 0;
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools: [tool],
      respond: async ({ message }) => {
        if (message?.method !== 'tools/call') return undefined;
        calls += 1;
        if (calls === 1) {
          await held;
          return lost(message.id);
        }
        return calls === 2 ? { status: 404 } : undefined;
      },
    });
    const upstream = await open();
    const first = expectUpstreamError(callHttpTool(upstream, 'count'));
    await eventually('the first is held', () => calls === 1);
    await callHttpTool(upstream, 'count');
    release();
    expect((await first).reason).toBe('rpc_error');
    expect(server.received('tools/call')).toHaveLength(3);
    expect(ran()).toBe(1);
  });

  test('a replaced session that may live on at the server is ended', async () => {
    const { tool } = counter();
    let known = false;
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools: [tool],
      respond: ({ verb, message, headers }) => {
        if (message?.method === 'initialize') known = server.received('initialize').length > 1;
        const handshake = message?.method === 'notifications/initialized' || verb === 'DELETE';
        return headers['mcp-session-id'] !== undefined && !known && !handshake ? lost(null) : undefined;
      },
    });
    const upstream = await open();
    const [old] = server.sessions;
    await callHttpTool(upstream, 'count', {}, { headers: { authorization: 'Bearer new' } });
    const ended = await eventually('its end', () => server.requests.find(({ verb }) => verb === 'DELETE'));
    expect(ended.headers).toMatchObject({ 'mcp-session-id': old, authorization: 'Bearer new' });
    await eventually(
      'only the new one is left',
      () => server.sessions.size === 1 && !server.sessions.has(old!),
    );
  });

  test('one that the server does not know is not spoken of', async () => {
    const { tool } = counter();
    let forgot = false;
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools: [tool],
      respond: ({ message }) => {
        if (message?.method !== 'tools/call' || forgot) return undefined;
        forgot = true;
        return { status: 404 };
      },
    });
    const upstream = await open();
    await callHttpTool(upstream, 'count');
    await callHttpTool(upstream, 'count');
    expect(server.requests.filter(({ verb }) => verb === 'DELETE')).toHaveLength(0);
  });

  for (const [what, reply] of [
    ['500', { status: 500 }],
    ['a broken connection', 'reset'],
    ['garbage', { status: 200, body: '<html>' }],
    ['401', { status: 401 }],
    ['429', { status: 429 }],
  ] as const) {
    test(`${what} is never sent again`, async () => {
      const { server, open } = await createHttpRig({
        era: 'legacy',
        respond: ({ message }) => (message?.method === 'tools/call' ? reply : undefined),
      });
      await expectUpstreamError(callHttpTool(await open(), 'x'));
      expect(server.received('tools/call')).toHaveLength(1);
      expect(server.received('initialize')).toHaveLength(1);
    });
  }
});

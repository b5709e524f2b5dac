import { afterEach, describe, expect, test } from '@jest/globals';
import { createFakeClock, eventually } from '@behalf/testkit';
import { createHttpRig, expectUpstreamError, requestOptions, stopHttpRigs } from '../../../test/httpRig.ts';

afterEach(stopHttpRigs);

describe('opening', () => {
  test('401 and 403 carry their challenge', async () => {
    for (const [status, reason] of [
      [401, 'unauthorized'],
      [403, 'insufficient_scope'],
    ] as const) {
      const { open } = await createHttpRig({
        era: 'legacy',
        respond: ({ message }) =>
          message?.method === 'initialize'
            ? { status, headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="s"' } }
            : undefined,
      });
      expect(await expectUpstreamError(open())).toMatchObject({
        reason,
        detail: { status, challenge: { scope: 's' } },
      });
    }
  });

  for (const [what, reply, reason] of [
    ['500', { status: 500 }, 'connect_failed'],
    ['a broken connection', 'reset', 'connect_failed'],
    ['429', { status: 429, headers: { 'retry-after': '3' } }, 'rate_limited'],
    ['no MCP', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }, 'invalid_response'],
    [
      'a version nobody knows',
      {
        status: 200,
        body: {
          jsonrpc: '2.0',
          id: 0,
          result: {
            protocolVersion: '1999-01-01',
            capabilities: {},
            serverInfo: { name: 'a', version: '1' },
          },
        },
      },
      'invalid_response',
    ],
    [
      'an error',
      { status: 200, body: { jsonrpc: '2.0', id: 0, error: { code: -32603, message: 'no' } } },
      'rpc_error',
    ],
    ['404', { status: 404 }, 'wrong_url'],
  ] as const) {
    test(`${what} to initialize is ${reason}`, async () => {
      const { open } = await createHttpRig({
        era: 'legacy',
        respond: ({ message }) => (message?.method === 'initialize' ? reply : undefined),
      });
      expect((await expectUpstreamError(open())).reason).toBe(reason);
    });
  }

  for (const method of ['initialize', 'notifications/initialized']) {
    test(`a server that hangs in ${method} ends in time, and nothing is cancelled`, async () => {
      const clock = createFakeClock();
      const { server, open } = await createHttpRig(
        { era: 'legacy', respond: ({ message }) => (message?.method === method ? 'hang' : undefined) },
        { clock },
      );
      const failure = expectUpstreamError(open({ initTimeoutMs: 4_000 }));
      await eventually('it hangs', () => server.received(method)[0]);
      await clock.advance(4_000);
      expect(await failure).toMatchObject({ reason: 'connect_timeout', outcome: 'unreachable' });
      if (method !== 'initialize')
        await eventually('no session is left behind', () => server.sessions.size === 0);
      expect(server.received('notifications/cancelled')).toEqual([]);
    });
  }

  test('who leaves while it opens leaves at once, and no session stays', async () => {
    const { server, open } = await createHttpRig({
      era: 'legacy',
      respond: ({ message }) => (message?.method === 'notifications/initialized' ? 'hang' : undefined),
    });
    const caller = new AbortController();
    const opening = open({ signal: caller.signal });
    await eventually('it hangs', () => server.received('notifications/initialized')[0]);
    const reason = new Error('enough');
    caller.abort(reason);
    await expect(opening).rejects.toBe(reason);
    await eventually('no session is left behind', () => server.sessions.size === 0);
  });

  test('what a server says of itself is cut to size', async () => {
    const { open } = await createHttpRig({
      era: 'both',
      instructions: 'i'.repeat(1_000_000),
      serverInfo: { name: 'n'.repeat(10_000), version: '1' },
    });
    for (const era of ['legacy', 'modern'] as const) {
      const { claims } = await open({ era });
      expect(claims.instructions).toHaveLength(32_768);
      expect(claims.name).toHaveLength(256);
    }
    const { open: greedy } = await createHttpRig({
      era: 'both',
      capabilities: { experimental: { x: { y: 'z'.repeat(100_000) } } },
    });
    for (const era of ['legacy', 'modern'] as const) {
      const failure = await expectUpstreamError(greedy({ era }));
      expect(failure.code).toBe('MCP_PROTOCOL_ERROR');
    }
  });

  test('a server without sessions is used without one', async () => {
    const { server, open } = await createHttpRig({ era: 'legacy', sessions: false });
    const upstream = await open();
    await upstream.request('ping', {}, requestOptions());
    await upstream.close();
    expect(server.requests.every(({ headers }) => headers['mcp-session-id'] === undefined)).toBe(true);
    expect(server.requests.every(({ verb }) => verb === 'POST')).toBe(true);
  });
});

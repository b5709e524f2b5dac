import { afterEach, describe, expect, test } from '@jest/globals';
import { createFakeClock, type ScriptedReply } from '@behalf/testkit';
import { createHttpRig, expectUpstreamError, requestOptions, stopHttpRigs } from '../../../test/httpRig.ts';

afterEach(stopHttpRigs);

/** Answers the probe, and leaves the rest to the server. */
const probed = (reply: ScriptedReply) => ({
  respond: ({ message }: { message: { method?: string } | undefined }) =>
    message?.method === 'server/discover' ? reply : undefined,
});
const rpc = (code: number, data?: unknown) => ({
  jsonrpc: '2.0',
  id: 1,
  error: { code, message: 'no', ...(data !== undefined && { data }) },
});

describe('the era of a server', () => {
  test('a server that answers server/discover is spoken to without a session', async () => {
    const { server, open } = await createHttpRig({
      era: 'both',
      instructions: 'Be kind.',
      serverInfo: { name: 'both', version: '2.0.0' },
    });
    const upstream = await open();
    expect(upstream.claims).toEqual({
      era: 'modern',
      protocolVersion: '2026-07-28',
      name: 'both',
      version: '2.0.0',
      instructions: 'Be kind.',
      capabilities: { tools: {} },
    });
    expect((await upstream.request('tools/list', {}, requestOptions())).result['tools']).toEqual([]);
    expect(server.requests.map(({ message }) => message?.method)).toEqual(['server/discover', 'tools/list']);
    expect(server.sessions.size).toBe(0);
  });

  test('a server that knows no discovery is opened with initialize', async () => {
    const { server, open } = await createHttpRig({ era: 'legacy', instructions: 'Be kind.' });
    const upstream = await open();
    expect(upstream.claims).toEqual({
      era: 'legacy',
      protocolVersion: '2025-11-25',
      name: 'scripted',
      version: '1.0.0',
      instructions: 'Be kind.',
      capabilities: { tools: {} },
    });
    await upstream.request('tools/list', {}, requestOptions());
    expect(server.requests.map(({ message }) => message?.method)).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/list',
    ]);
    expect(server.received('initialize')[0]!.message!.params!['clientInfo']).toEqual({
      name: 'behalf',
      version: '0.0.0-test',
    });
    const [session] = server.sessions;
    expect(server.requests.at(-1)!.headers).toMatchObject({
      'mcp-session-id': session,
      'mcp-protocol-version': '2025-11-25',
    });
  });

  test('no stream is opened after the hand-shake', async () => {
    const { server, open } = await createHttpRig({ era: 'legacy', getStream: true });
    const upstream = await open();
    await upstream.request('ping', {}, requestOptions());
    expect(server.requests.filter(({ verb }) => verb === 'GET')).toEqual([]);
  });

  for (const [what, reply] of [
    ['-32601 in an answer', { status: 200, body: rpc(-32601) }],
    ['-32600 in an answer', { status: 200, body: rpc(-32600) }],
    ['-32602 in an answer', { status: 200, body: rpc(-32602) }],
    ['a result that is no discovery', { status: 200, body: { jsonrpc: '2.0', id: 1, result: {} } }],
    [
      'versions that are all old',
      {
        status: 200,
        body: { jsonrpc: '2.0', id: 1, result: { supportedVersions: ['2025-11-25'], capabilities: {} } },
      },
    ],
    ['-32022 with old versions alone', { status: 400, body: rpc(-32022, { supported: ['2025-06-18'] }) }],
    ['400 with another body', { status: 400, body: 'Bad Request' }],
    ['404', { status: 404, body: 'Not Found' }],
    ['405', { status: 405 }],
    ['406', { status: 406 }],
    ['something that is no JSON', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }],
    ['202 without an answer', { status: 202 }],
  ] as [string, ScriptedReply][]) {
    test(`${what} shows a legacy server`, async () => {
      const { server, open, eraVerdicts } = await createHttpRig({ era: 'legacy', ...probed(reply) });
      expect((await open()).claims.era).toBe('legacy');
      expect(eraVerdicts.get(server.url)).toBe('legacy');
    });
  }

  for (const [what, reply, reason] of [
    ['401', { status: 401, headers: { 'www-authenticate': 'Bearer scope="a"' } }, 'unauthorized'],
    ['403', { status: 403 }, 'forbidden'],
    ['408', { status: 408 }, 'bad_request'],
    ['429', { status: 429, headers: { 'retry-after': '2' } }, 'rate_limited'],
    ['a redirect that is not followed', { status: 302, headers: { location: '/login' } }, 'redirected'],
    ['500', { status: 500 }, 'connect_failed'],
    ['503', { status: 503 }, 'connect_failed'],
    ['a connection that breaks', 'reset', 'connect_failed'],
    ['-32020', { status: 400, body: rpc(-32020) }, 'header_mismatch'],
    ['-32021', { status: 400, body: rpc(-32021) }, 'header_mismatch'],
    ['-32022 without versions', { status: 400, body: rpc(-32022) }, 'header_mismatch'],
    [
      '-32022 with a newer version',
      { status: 400, body: rpc(-32022, { supported: ['2027-01-01'] }) },
      'header_mismatch',
    ],
  ] as [string, ScriptedReply, string][]) {
    test(`${what} shows nothing: initialize is not tried`, async () => {
      const { server, open, eraVerdicts } = await createHttpRig({ era: 'both', ...probed(reply) });
      expect((await expectUpstreamError(open())).reason).toBe(reason);
      expect(server.received('initialize')).toEqual([]);
      expect(eraVerdicts.get(server.url)).toBeUndefined();
    });
  }

  for (const [times, what] of [
    [1, 'is asked once more'],
    [2, 'and no more than that'],
  ] as const) {
    test(`a server that refuses the version it names ${what}`, async () => {
      let left: number = times;
      const { server, open } = await createHttpRig({
        era: 'modern',
        respond({ message }) {
          if (message?.method !== 'server/discover' || left === 0) return undefined;
          left -= 1;
          return { status: 400, body: rpc(-32022, { supported: ['2026-07-28'] }) };
        },
      });
      if (times === 1) expect((await open()).claims.era).toBe('modern');
      else expect((await expectUpstreamError(open())).reason).toBe('header_mismatch');
      expect(server.received('server/discover')).toHaveLength(2);
      expect(server.received('initialize')).toEqual([]);
    });
  }

  test('silence shows nothing', async () => {
    const clock = createFakeClock();
    const { server, open, eraVerdicts } = await createHttpRig({ era: 'both', ...probed('hang') }, { clock });
    const failure = expectUpstreamError(open({ initTimeoutMs: 3_000 }));
    await clock.advance(3_000);
    expect((await failure).reason).toBe('connect_timeout');
    expect(server.received('initialize')).toEqual([]);
    expect(eraVerdicts.get(server.url)).toBeUndefined();
  });

  test('a port where nobody listens shows nothing', async () => {
    const { server, open, eraVerdicts } = await createHttpRig({ era: 'both' });
    await server.close();
    expect((await expectUpstreamError(open())).outcome).toBe('unreachable');
    expect(eraVerdicts.get(server.url)).toBeUndefined();
  });

  test('the era of the settings is not probed', async () => {
    const { server, open } = await createHttpRig({ era: 'both' });
    expect((await open({ era: 'legacy' })).claims.era).toBe('legacy');
    expect(server.received('server/discover')).toEqual([]);
    expect((await open({ era: 'modern' })).claims.era).toBe('modern');
  });

  test('a server that is said to be modern and is not is an error', async () => {
    const { server, open } = await createHttpRig({ era: 'legacy' });
    expect((await expectUpstreamError(open({ era: 'modern' }))).reason).toBe('bad_request');
    expect(server.received('initialize')).toEqual([]);
  });

  test('a legacy verdict saves the probe for a day', async () => {
    const clock = createFakeClock();
    const { server, open } = await createHttpRig({ era: 'legacy' }, { clock });
    await open();
    await clock.advance(24 * 3_600_000 - 1);
    await open();
    expect(server.received('server/discover')).toHaveLength(1);
    await clock.advance(1);
    server.change({ era: 'both' });
    expect((await open()).claims.era).toBe('modern');
    expect(server.received('server/discover')).toHaveLength(2);
  });

  test('a legacy verdict falls when the server refuses initialize', async () => {
    const { server, open } = await createHttpRig({ era: 'legacy' });
    await open();
    server.change({ era: 'modern' });
    expect((await open()).claims.era).toBe('modern');
  });

  test('a modern verdict falls with the first answer that is not modern', async () => {
    const { server, open, eraVerdicts } = await createHttpRig({ era: 'modern' });
    const upstream = await open();
    expect(eraVerdicts.get(server.url)).toBe('modern');
    let closed = 0;
    upstream.onClose(() => (closed += 1));
    server.change({ era: 'legacy' });
    await expectUpstreamError(upstream.request('tools/list', {}, requestOptions()));
    expect(eraVerdicts.get(server.url)).toBeUndefined();
    expect(closed).toBe(1);
    expect((await expectUpstreamError(upstream.request('tools/list', {}, requestOptions()))).reason).toBe(
      'ended',
    );
    expect((await open()).claims.era).toBe('legacy');
  });
});

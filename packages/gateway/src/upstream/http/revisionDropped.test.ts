import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@behalf/testkit';
import { callHttpTool, createHttpRig, expectUpstreamError, stopHttpRigs } from '../../../test/httpRig.ts';

afterEach(stopHttpRigs);

describe('a lost session whose server takes no other', () => {
  for (const [what, reply] of [
    ['an error', { status: 200, body: { jsonrpc: '2.0', id: 0, error: { code: -32022, message: 'No' } } }],
    ['400', { status: 400 }],
    ['404', { status: 404 }],
    ['something else', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }],
  ] as const) {
    test(`${what} instead of a new session ends the conversation; the next one asks what is spoken`, async () => {
      let dropped = false;
      const { server, open } = await createHttpRig({
        era: 'legacy',
        tools: [{ name: 'echo' }],
        respond: ({ message }) => (dropped && message?.method === 'initialize' ? reply : undefined),
      });
      const upstream = await open();
      let ended = 0;
      upstream.onClose(() => (ended += 1));
      server.forgetSessions();
      dropped = true;
      expect(await expectUpstreamError(callHttpTool(upstream, 'echo'))).toMatchObject({
        code: 'MCP_PROTOCOL_ERROR',
      });
      expect(ended).toBe(1);
      expect(await expectUpstreamError(callHttpTool(upstream, 'echo'))).toMatchObject({ reason: 'ended' });
      server.change({ era: 'both' });
      const next = await open();
      expect(next.claims.era).toBe('modern');
      await callHttpTool(next, 'echo');
    });
  }

  test('its stream ends with it: nobody hears it, and a server may hold it open for ever', async () => {
    let dropped = false;
    const { server, open } = await createHttpRig({
      era: 'legacy',
      getStream: true,
      respond: ({ message }) => (dropped && message?.method === 'initialize' ? { status: 404 } : undefined),
    });
    const upstream = await open();
    upstream.listen(() => undefined, {});
    await eventually('it opens', () => server.openStreams === 1);
    server.forgetSessions();
    dropped = true;
    await expectUpstreamError(callHttpTool(upstream, 'x'));
    await eventually('it closes', () => server.openStreams === 0);
  });

  test('who finds the session lost after that opens no further one', async () => {
    let dropped = false;
    let calls = 0;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const { server, open } = await createHttpRig({
      era: 'legacy',
      respond: async ({ message }) => {
        if (dropped && message?.method === 'initialize') return { status: 404 };
        if (message?.method !== 'tools/call') return undefined;
        calls += 1;
        if (calls === 1) await held;
        return { status: 404 };
      },
    });
    const upstream = await open();
    const late = expectUpstreamError(callHttpTool(upstream, 'x'));
    await eventually('the first is held', () => calls === 1);
    dropped = true;
    expect(await expectUpstreamError(callHttpTool(upstream, 'x'))).toMatchObject({ reason: 'wrong_url' });
    release();
    expect(await late).toMatchObject({ reason: 'ended', outcome: 'unreachable' });
    expect(server.received('initialize')).toHaveLength(2);
  });

  for (const [what, reply] of [
    ['a fault', { status: 503 }],
    ['a limit', { status: 429 }],
    ['a sign-in', { status: 401 }],
    ['a broken connection', 'reset'],
  ] as const) {
    test(`${what} says nothing of what is spoken: the conversation goes on`, async () => {
      let away = false;
      const { server, open } = await createHttpRig({
        era: 'legacy',
        tools: [{ name: 'echo' }],
        respond: ({ message }) => (away && message?.method === 'initialize' ? reply : undefined),
      });
      const upstream = await open();
      let ended = 0;
      upstream.onClose(() => (ended += 1));
      server.forgetSessions();
      away = true;
      await expectUpstreamError(callHttpTool(upstream, 'echo'));
      expect(ended).toBe(0);
      away = false;
      await callHttpTool(upstream, 'echo');
    });
  }
});

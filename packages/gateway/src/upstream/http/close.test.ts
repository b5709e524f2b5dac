import { afterEach, describe, expect, test } from '@jest/globals';
import { createFakeClock, eventually } from '@behalf/testkit';
import { callHttpTool, createHttpRig, expectUpstreamError, stopHttpRigs } from '../../../test/httpRig.ts';

afterEach(stopHttpRigs);

describe('closing', () => {
  test('ends the session at the server, once', async () => {
    const { server, open } = await createHttpRig({ era: 'legacy' });
    const upstream = await open({}, { headers: { 'x-team': 'blue' } });
    const [id] = server.sessions;
    let closed = 0;
    upstream.onClose(() => {
      throw new Error('a listener at fault');
    });
    upstream.onClose(() => (closed += 1));
    await Promise.all([upstream.close(), upstream.close()]);
    await upstream.close();
    expect(server.sessions.size).toBe(0);
    const deletes = server.requests.filter(({ verb }) => verb === 'DELETE');
    expect(deletes).toHaveLength(1);
    expect(deletes[0]!.headers).toMatchObject({ 'mcp-session-id': id, 'x-team': 'blue' });
    expect(closed).toBe(1);
    upstream.onClose(() => (closed += 1));
    expect(closed).toBe(2);
    expect((await expectUpstreamError(callHttpTool(upstream, 'x'))).reason).toBe('ended');
  });

  test('a modern conversation has nothing to end', async () => {
    const { server, open } = await createHttpRig({ era: 'modern' });
    await (await open()).close();
    expect(server.requests.map(({ verb }) => verb)).toEqual(['POST']);
  });

  for (const reply of [{ status: 405 }, { status: 500 }, 'reset'] as const) {
    test(`${JSON.stringify(reply)} to DELETE is no error`, async () => {
      const { open } = await createHttpRig({
        era: 'legacy',
        respond: ({ verb }) => (verb === 'DELETE' ? reply : undefined),
      });
      await (await open()).close();
    });
  }

  test('a server that does not answer holds it up for 5 s', async () => {
    const clock = createFakeClock();
    const { server, open } = await createHttpRig(
      { era: 'legacy', respond: ({ verb }) => (verb === 'DELETE' ? 'hang' : undefined) },
      { clock },
    );
    const upstream = await open();
    let done = false;
    const closing = upstream.close().then(() => (done = true));
    await eventually('the server is told', () => server.requests.at(-1)!.verb === 'DELETE');
    await clock.advance(4_999);
    expect(done).toBe(false);
    await clock.advance(1);
    await closing;
  });

  for (const era of ['legacy', 'modern'] as const) {
    test(`what is in the air may have run (${era})`, async () => {
      const { server, open } = await createHttpRig({
        era,
        tools: [{ name: 'slow', handler: () => new Promise(() => undefined) }],
      });
      const upstream = await open();
      const call = expectUpstreamError(callHttpTool(upstream, 'slow'));
      const sent = await eventually('it runs', () => server.received('tools/call')[0]);
      await upstream.close();
      expect(await call).toMatchObject({ reason: 'reset', outcome: 'unknown' });
      await eventually('the exchange is closed', () => sent.aborted);
    });
  }
});

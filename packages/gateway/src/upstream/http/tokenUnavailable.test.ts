import { afterEach, describe, expect, test } from '@jest/globals';
import type { SendRequest } from '@behalf/kernel';
import { createFakeClock, eventually } from '@behalf/testkit';
import {
  createCountingBearer,
  expectFreshTokens,
  createPendingBearer,
  withoutRenewal,
} from '../../../test/bearerRig.ts';
import {
  callHttpTool,
  createHttpRig,
  expectUpstreamError,
  requestOptions,
  stopHttpRigs,
} from '../../../test/httpRig.ts';
import type { Network } from '../upstream.ts';
import type { RemoteTarget } from '../target.ts';
import { UpstreamError } from '../upstreamError.ts';
import { openHttpUpstream } from './negotiate.ts';

afterEach(stopHttpRigs);

const tools = [{ name: 'echo' }];
const capabilities = { tools: { listChanged: true } };
/** No UpstreamError, and not even an Error of this realm: it must come through untouched. */
const refusal = { code: 'OBO_REJECTED' };
const opening = {
  server: 's',
  owner: undefined,
  era: 'auto',
  initTimeoutMs: 5_000,
  signal: new AbortController().signal,
} as const;
/** A door that hears of everything, also of what it would not have let out. */
function recording(network: Network): Network & { readonly sent: SendRequest[] } {
  const sent: SendRequest[] = [];
  const sendTo = (target: RemoteTarget) => {
    const send = network.sendTo(target);
    return (request: SendRequest) => {
      sent.push(request);
      return send(request);
    };
  };
  return { ...network, sendTo, sent };
}
const caught = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a bearer without a token', () => {
  for (const era of ['legacy', 'modern', 'auto'] as const) {
    test(`opens nothing (${era})`, async () => {
      const bearer = createCountingBearer();
      bearer.failure = refusal;
      const { server, open } = await createHttpRig({ era: 'both', tools });
      expect(await caught(open({ era }, { bearer, headers: { authorization: 'Bearer shared' } }))).toBe(
        refusal,
      );
      expect(server.requests).toEqual([]);
    });
  }

  test('ends a hand-shake that has begun', async () => {
    const bearer = createCountingBearer();
    const { server, open } = await createHttpRig({
      era: 'legacy',
      respond: ({ message }) => {
        if (message?.method === 'initialize') bearer.failure = refusal;
        return undefined;
      },
    });
    expect(await caught(open({ era: 'legacy' }, { bearer }))).toBe(refusal);
    // The session that was begun cannot be ended either.
    expect(server.requests.map(({ message }) => message?.method)).toEqual(['initialize']);
  });

  for (const era of ['legacy', 'modern'] as const) {
    test(`lets no ${era} request go out, and none without it`, async () => {
      const bearer = createCountingBearer();
      const { server, open } = await createHttpRig({ era, tools });
      const headers = { authorization: 'Bearer shared' };
      const upstream = await open({}, { bearer, headers });
      const before = server.requests.length;
      bearer.failure = refusal;
      expect(await caught(callHttpTool(upstream, 'echo', {}, { bearer, headers }))).toBe(refusal);
      expect(server.requests).toHaveLength(before);
      // It is over with the next token.
      bearer.failure = undefined;
      await callHttpTool(upstream, 'echo', {}, { bearer, headers });
      expectFreshTokens(server.requests);
    });

    test(`opens a ${era} stream when there is one again`, async () => {
      const clock = createFakeClock();
      const bearer = createCountingBearer();
      const { server, open } = await createHttpRig({ era, getStream: true, capabilities }, { clock });
      const upstream = await open({}, { bearer });
      bearer.failure = refusal;
      const before = server.requests.length;
      upstream.listen(() => undefined, { bearer });
      const requestCount = bearer.tokenRequests;
      await eventually('it is asked again', async () => {
        await clock.advance(1_000);
        return bearer.tokenRequests > requestCount + 1;
      });
      expect(server.requests).toHaveLength(before);
      bearer.failure = undefined;
      await eventually('it opens', async () => {
        await clock.advance(1_000);
        return server.openStreams === 1;
      });
      expectFreshTokens(server.requests);
    });
  }

  test('says no farewell', async () => {
    const bearer = createCountingBearer();
    const { server, open } = await createHttpRig({ era: 'legacy' });
    const upstream = await open({}, { bearer, headers: { authorization: 'Bearer shared' } });
    const before = server.requests.length;
    bearer.failure = refusal;
    await upstream.close();
    expect(server.requests).toHaveLength(before);
  });

  test('renews no session, and the session may be renewed later', async () => {
    const bearer = createCountingBearer();
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools,
      respond: ({ message, headers }) => {
        const lost =
          message?.method === 'tools/call' && !server.sessions.has(String(headers['mcp-session-id']));
        if (lost) bearer.failure = refusal;
        return undefined;
      },
    });
    const upstream = await open({ era: 'legacy' }, { bearer });
    server.forgetSessions();
    expect(await caught(callHttpTool(upstream, 'echo', {}, { bearer }))).toBe(refusal);
    expect(server.received('initialize')).toHaveLength(1);
    bearer.failure = undefined;
    const again = createCountingBearer('again');
    expect(await caught(callHttpTool(upstream, 'echo', {}, { bearer: again }))).toBeUndefined();
    expect(server.received('initialize')).toHaveLength(2);
  });

  test('an empty one is none', async () => {
    const { server, open } = await createHttpRig({ era: 'modern', tools });
    const upstream = await open();
    const before = server.requests.length;
    for (const token of ['', undefined as unknown as string]) {
      for (const answer of [() => token, () => Promise.resolve(token)]) {
        const bearer = { token: answer, ...withoutRenewal };
        expect(await caught(callHttpTool(upstream, 'echo', {}, { bearer }))).toBeInstanceOf(TypeError);
      }
    }
    expect(server.requests).toHaveLength(before);
  });
});

describe('a token that is waited for', () => {
  for (const era of ['legacy', 'modern'] as const) {
    test(`a ${era} caller who gives up leaves at once`, async () => {
      const { bearer, pending } = createPendingBearer();
      const { server, parts, target, eraVerdicts } = await createHttpRig({ era, tools });
      const network = recording(parts.network);
      const upstream = await openHttpUpstream(target, opening, { ...parts, network }, eraVerdicts);
      const before = server.requests.length;
      const sent = network.sent.length;
      const caller = new AbortController();
      const call = callHttpTool(upstream, 'echo', {}, { bearer, signal: caller.signal });
      await eventually('it is asked', () => pending.length === 1);
      caller.abort();
      await expect(call).rejects.toMatchObject({ name: 'AbortError' });
      pending[0]!.resolve('too-late');
      await upstream.request('tools/list', {}, requestOptions({ bearer: createCountingBearer('next') }));
      // Neither the call nor a word that it is cancelled: the server never heard of it.
      expect([pending.length, network.sent.length]).toEqual([1, sent + 1]);
      expect(server.requests.slice(before).map(({ message }) => message?.method)).toEqual(['tools/list']);
      expect(JSON.stringify(server.requests)).not.toContain('too-late');
    });

    test(`a ${era} opening that is given up sends nothing`, async () => {
      const { bearer, pending } = createPendingBearer();
      const { server, open } = await createHttpRig({ era: 'both', tools });
      const caller = new AbortController();
      const opening = open({ era, signal: caller.signal }, { bearer });
      await eventually('it is asked', () => pending.length === 1);
      caller.abort();
      await expect(opening).rejects.toMatchObject({ name: 'AbortError' });
      pending[0]!.resolve('too-late');
      await open({ era }, { bearer: createCountingBearer('next') });
      expectFreshTokens(server.requests, 'next');
      expect(pending).toHaveLength(1);
    });

    test(`the time of a ${era} call is not the server’s`, async () => {
      const clock = createFakeClock();
      const { bearer, pending } = createPendingBearer();
      const { server, open } = await createHttpRig({ era, tools }, { clock });
      const upstream = await open();
      const before = server.requests.length;
      const call = expectUpstreamError(callHttpTool(upstream, 'echo', {}, { bearer }));
      await eventually('it is asked', () => pending.length === 1);
      await clock.advance(5_000);
      expect(await call).toMatchObject({
        reason: 'token_timeout',
        outcome: 'unreachable',
        code: 'OBO_TEMPORARY',
      });
      pending[0]!.reject(new Error('nobody hears it'));
      await upstream.request('tools/list', {}, requestOptions({ bearer: createCountingBearer('next') }));
      expect(server.requests.slice(before).map(({ message }) => message?.method)).toEqual(['tools/list']);
    });

    test(`nor is that of a ${era} opening`, async () => {
      const clock = createFakeClock();
      const { bearer, pending } = createPendingBearer();
      const { server, open } = await createHttpRig({ era: 'both', tools }, { clock });
      const opening = expectUpstreamError(open({ era }, { bearer }));
      await eventually('it is asked', () => pending.length === 1);
      await clock.advance(5_000);
      expect((await opening).reason).toBe('token_timeout');
      expect(server.requests).toEqual([]);
    });
  }

  test('a server that is slow with the token in hand is', async () => {
    const clock = createFakeClock();
    const bearer = createCountingBearer('t', { isDeferred: true });
    const { server, open } = await createHttpRig(
      { era: 'legacy', respond: ({ message }) => (message?.method === 'tools/call' ? 'hang' : undefined) },
      { clock },
    );
    const upstream = await open({}, { bearer });
    const call = expectUpstreamError(callHttpTool(upstream, 'slow', {}, { bearer }));
    await eventually('it hangs', () => server.received('tools/call').length === 1);
    await clock.advance(5_000);
    expect(await call).toBeInstanceOf(UpstreamError);
    expect((await call).reason).toBe('timeout');
    await eventually('it is told', () => server.received('notifications/cancelled').length === 1);
  });
});

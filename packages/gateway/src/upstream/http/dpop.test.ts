import { createHash } from 'node:crypto';
import { systemClock, systemRandom } from '@behalf/kernel';
import { eventually, type ScriptedRequest } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { withoutRenewal } from '../../../test/bearerRig.ts';
import { callHttpTool, createHttpRig, expectUpstreamError, stopHttpRigs } from '../../../test/httpRig.ts';
import { createDpop, createDpopKey, toWireToken } from '../../credentials/oauth/dpop.ts';
import type { Bearer } from '../target.ts';

afterEach(stopHttpRigs);

const tools = [{ name: 'echo' }];
const capabilities = { tools: { listChanged: true } };
const ATH = createHash('sha256').update('bound-token').digest('base64url');

function boundBearer(): Bearer {
  const prover = createDpop({ clock: systemClock, random: systemRandom }).proverFor(
    createDpopKey(systemRandom),
  );
  return { token: () => toWireToken({ accessToken: 'bound-token', prover }), ...withoutRenewal };
}

const isCall = ({ message }: ScriptedRequest) => message?.method === 'tools/call';
const proofOf = ({ headers }: ScriptedRequest) => decodeJwt(String(headers['dpop']));

function expectProven(requests: readonly ScriptedRequest[], url: string): void {
  expect(requests.map(({ headers }) => headers.authorization)).toEqual(
    requests.map(() => 'DPoP bound-token'),
  );
  const proofs = requests.map(proofOf);
  for (const [index, { verb }] of requests.entries()) {
    expect(proofs[index]).toMatchObject({ htm: verb, htu: url, ath: ATH });
  }
  expect(new Set(proofs.map(({ jti }) => jti)).size).toBe(proofs.length);
}

describe('a token that is bound to a key', () => {
  for (const era of ['modern', 'legacy'] as const) {
    test(`is never a bearer token, and proven with each request (${era})`, async () => {
      const bearer = boundBearer();
      const { server, open } = await createHttpRig({ era, tools, capabilities, getStream: true });
      const headers = { authorization: 'Bearer old', DPoP: 'configured' };
      const upstream = await open({}, { bearer, headers });
      await callHttpTool(upstream, 'echo', {}, { bearer });
      upstream.listen(() => undefined, { bearer });
      await eventually('it listens', () => server.openStreams === 1);
      await upstream.close();
      if (era === 'legacy') {
        await eventually('it says goodbye', () => server.requests.some(({ verb }) => verb === 'DELETE'));
      }
      expectProven(server.requests, server.url);
    });

    test(`a server’s nonce is repeated once (${era})`, async () => {
      const bearer = boundBearer();
      const { server, open } = await createHttpRig({ era, tools });
      const wanted = { 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': 'n-1' };
      server.change({
        respond: (request) =>
          isCall(request) && proofOf(request)['nonce'] !== 'n-1'
            ? { status: 401, headers: wanted }
            : undefined,
      });
      const upstream = await open({}, { bearer });
      await callHttpTool(upstream, 'echo', {}, { bearer });
      await callHttpTool(upstream, 'echo', {}, { bearer });
      const calls = server.requests.filter(isCall);
      expect(calls.map((request) => proofOf(request)['nonce'])).toEqual([undefined, 'n-1', 'n-1']);
    });
  }

  test('a server that is never content is not asked a third time', async () => {
    const bearer = boundBearer();
    const { server, open } = await createHttpRig({ era: 'modern', tools });
    const upstream = await open({}, { bearer });
    let count = 0;
    const refuse = (challenge: string) =>
      server.change({
        respond() {
          count += 1;
          return { status: 401, headers: { 'www-authenticate': challenge, 'dpop-nonce': `n-${count}` } };
        },
      });
    refuse('DPoP error="use_dpop_nonce"');
    expect(await expectUpstreamError(callHttpTool(upstream, 'echo', {}, { bearer }))).toMatchObject({
      reason: 'unauthorized',
    });
    expect(count).toBe(2);
    // Another refusal is about the token, which is not ours to repeat.
    count = 0;
    refuse('DPoP error="invalid_token"');
    expect(await expectUpstreamError(callHttpTool(upstream, 'echo', {}, { bearer }))).toMatchObject({
      reason: 'unauthorized',
    });
    expect(count).toBe(1);
  });
});

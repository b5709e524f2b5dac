import { inspect } from 'node:util';
import type { ProviderSettings } from '@behalf/settings';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { TokenEndpointReply } from '../../../../test/tokenEndpoint.ts';
import {
  createTokenEndpointRig,
  runExchange,
  expectExchangeFault,
  type TokenEndpointRig,
} from '../../../../test/tokenEndpointRig.ts';
import type { ExchangeFault, ExchangeProvider, FaultCode } from '../exchangeProvider.ts';

let rig: TokenEndpointRig;
beforeEach(async () => {
  rig = await createTokenEndpointRig();
});
afterEach(() => rig.close());

const at = (type: ProviderSettings['type']) =>
  rig.provider({
    ...{ type, authority: `${rig.endpoint.origin}/t`, tokenEndpoint: `${rig.endpoint.origin}/t/token` },
    ...{ clientId: 'app-1', clientSecret: 'secret' },
  });

async function each(test: (provider: ExchangeProvider) => Promise<void>): Promise<void> {
  for (const type of ['entra', 'jwt-bearer', 'token-exchange'] as const) await test(at(type));
}

/** How one answer is taken, and that it took one request. */
async function judged(provider: ExchangeProvider, reply: TokenEndpointReply): Promise<ExchangeFault> {
  rig.endpoint.requests.length = 0;
  rig.endpoint.reply = () => reply;
  const fault = await expectExchangeFault(runExchange(provider));
  expect(rig.endpoint.requests).toHaveLength(1);
  return fault;
}
const refusal = (body: Readonly<Record<string, unknown>>, status = 400): TokenEndpointReply => ({
  status,
  body,
});

describe('faults', () => {
  test('by the OAuth error: the user’s turn, the operator’s, or nobody’s', async () => {
    const cases: [error: string, code: FaultCode, kind: string][] = [
      ['invalid_grant', 'OBO_REJECTED', 'subject_rejected'],
      ['invalid_token', 'OBO_REJECTED', 'subject_rejected'],
      ['access_denied', 'OBO_REJECTED', 'subject_rejected'],
      ['interaction_required', 'OBO_CONSENT_REQUIRED', 'subject_rejected'],
      ['consent_required', 'OBO_CONSENT_REQUIRED', 'subject_rejected'],
      ['login_required', 'OBO_CONSENT_REQUIRED', 'subject_rejected'],
      ['invalid_client', 'OBO_MISCONFIGURED', 'misconfigured'],
      ['unauthorized_client', 'OBO_MISCONFIGURED', 'misconfigured'],
      ['invalid_scope', 'OBO_MISCONFIGURED', 'misconfigured'],
      ['invalid_target', 'OBO_MISCONFIGURED', 'misconfigured'],
      ['unsupported_grant_type', 'OBO_MISCONFIGURED', 'misconfigured'],
      ['temporarily_unavailable', 'OBO_TEMPORARY', 'idp_unavailable'],
      ['something_new', 'OBO_TEMPORARY', 'idp_unavailable'],
      ['constructor', 'OBO_TEMPORARY', 'idp_unavailable'],
    ];
    await each(async (provider) => {
      for (const [error, code, kind] of cases) {
        for (const status of [400, 401]) {
          expect(await judged(provider, refusal({ error }, status))).toMatchObject({
            ...{ code, kind },
            detail: { status, providerCode: error, isRetryable: error === 'temporarily_unavailable' },
          });
        }
      }
    });
  });

  test('a request that is wrong is the operator’s, unless it may be the user’s token', async () => {
    const fault = refusal({ error: 'invalid_request' });
    expect(await judged(at('entra'), fault)).toMatchObject({ code: 'OBO_MISCONFIGURED' });
    expect(await judged(at('jwt-bearer'), fault)).toMatchObject({ code: 'OBO_MISCONFIGURED' });
    // RFC 8693, section 2.2.2: the one code for both. One user's bad token must not put the server aside for all.
    expect(await judged(at('token-exchange'), fault)).toMatchObject({ code: 'OBO_REJECTED' });
  });

  test('by the status, where the body says nothing', async () => {
    await each(async (provider) => {
      for (const status of [400, 401, 403, 404, 405, 418]) {
        for (const body of ['', 'plain', '[]', '{}', '{"error":7}', '{"error":"has blanks"}']) {
          const fault = await judged(provider, { status, body });
          expect(fault).toMatchObject({ code: 'OBO_TEMPORARY', detail: { status, isRetryable: false } });
          expect(fault.detail.providerCode).toBeUndefined();
        }
      }
      for (const status of [500, 502, 503, 504, 599]) {
        for (const body of ['', '{}', '{"error":"invalid_grant"}']) {
          expect(await judged(provider, { status, body })).toMatchObject({
            code: 'OBO_TEMPORARY',
            detail: { status, isRetryable: true },
          });
        }
      }
    });
  });

  test('a redirect is not followed, with whatever it would carry', async () => {
    const door = rig.fetch;
    await each(async (provider) => {
      for (const status of [302, 307, 308]) {
        const headers = { location: `${rig.endpoint.origin}/elsewhere` };
        for (const fetch of [door, globalThis.fetch]) {
          rig.fetch = fetch;
          expect(await judged(provider, { status, headers })).toMatchObject({ code: 'OBO_MISCONFIGURED' });
        }
      }
    });
  });

  test('how long to wait is passed on, in seconds or as a date, an hour at most', async () => {
    const date = new Date(rig.clock.now() + 7_000).toUTCString();
    const cases: [string | undefined, number | undefined][] = [
      ['5', 5_000],
      ['0', 0],
      [date, 7_000],
      ['61', 61_000],
      ['3600', 3_600_000],
      ['86400', 3_600_000],
      [new Date(rig.clock.now() + 86_400_000).toUTCString(), 3_600_000],
      ['soon', undefined],
      [undefined, undefined],
    ];
    await each(async (provider) => {
      for (const status of [429, 503]) {
        for (const [header, retryAfterMs] of cases) {
          const headers: Record<string, string> = header === undefined ? {} : { 'retry-after': header };
          const fault = await judged(provider, { status, headers, body: {} });
          expect(fault).toMatchObject({ code: 'OBO_TEMPORARY', detail: { status, isRetryable: true } });
          expect(fault.detail.retryAfterMs).toBe(retryAfterMs);
        }
      }
    });
  });

  test('a claims challenge is the user’s to meet, and is carried on', async () => {
    const claims = '{"access_token":{"acrs":{"essential":true,"value":"c1"}}}';
    await each(async (provider) => {
      for (const error of ['interaction_required', 'invalid_grant', 'something_new']) {
        expect(await judged(provider, refusal({ error, claims }))).toMatchObject({
          code: 'OBO_CONSENT_REQUIRED',
          detail: { claims },
        });
      }
      // A number that would be rejected without: what is asked for can be proven.
      expect(
        await judged(provider, refusal({ error: 'invalid_grant', error_codes: [50173], claims })),
      ).toMatchObject({
        code: 'OBO_CONSENT_REQUIRED',
      });
      for (const odd of ['no JSON', '[]', '7', 7, {}, `{"a":"${'x'.repeat(4_096)}"}`]) {
        const fault = await judged(provider, refusal({ error: 'invalid_grant', claims: odd }));
        expect(fault.code).toBe('OBO_REJECTED');
        expect(fault.detail.claims).toBeUndefined();
      }
      for (const suberror of ['consent_required', 'basic_action', 'user_password_expired']) {
        expect(await judged(provider, refusal({ error: 'invalid_grant', suberror }))).toMatchObject({
          code: 'OBO_CONSENT_REQUIRED',
        });
      }
      expect(
        await judged(provider, refusal({ error: 'invalid_grant', suberror: 'bad_token' })),
      ).toMatchObject({
        code: 'OBO_REJECTED',
      });
    });
  });

  test('a provider that demands DPoP is a setting to change, not a loop', async () => {
    await each(async (provider) => {
      for (const error of ['invalid_dpop_proof', 'use_dpop_nonce']) {
        const reply = { status: 400, headers: { 'dpop-nonce': 'n-1' }, body: { error } };
        expect(await judged(provider, reply)).toMatchObject({
          code: 'OBO_MISCONFIGURED',
          detail: { providerCode: error, isRetryable: false, hint: expect.stringContaining('DPoP') },
        });
      }
    });
  });

  test('the provider’s words never leave', async () => {
    const words = 'AADSTS50013: words of the provider about ada@example.com';
    const body = {
      ...{ error: 'invalid_grant', error_description: words, error_uri: 'https://words.example' },
      ...{ trace_id: 'words-trace', correlation_id: 'words-id', suberror: 'words of the provider' },
    };
    await each(async (provider) => {
      for (const status of [200, 400, 429, 500]) {
        const fault = await judged(provider, { status, body });
        expect(inspect(fault, { depth: 20, showHidden: true })).not.toMatch(/words|ada/);
        expect(fault.detail.providerCode).toBe('AADSTS50013');
      }
      const said = await judged(
        provider,
        refusal({ error: 'words of the provider', error_description: 'words' }),
      );
      expect(inspect(said, { depth: 20, showHidden: true })).not.toContain('words');
    });
    expect(rig.logged).toEqual([]);
  });
});

describe('no answer', () => {
  test('a connection that fails may be tried again', async () => {
    await each(async (provider) => {
      for (const reply of ['close', 'cut'] as const) {
        expect(await judged(provider, reply)).toMatchObject({
          code: 'OBO_TEMPORARY',
          detail: { isRetryable: true },
        });
      }
    });
    const down = rig.provider({
      type: 'jwt-bearer',
      tokenEndpoint: 'http://127.0.0.1:1/token',
      clientId: 'c',
    });
    rig.fetch = globalThis.fetch;
    expect(await expectExchangeFault(runExchange(down))).toMatchObject({
      code: 'OBO_TEMPORARY',
      detail: { isRetryable: true },
    });
  });

  test('what the door out refuses is the operator’s, whatever its words', async () => {
    const refused = (error: object) => {
      rig.fetch = () =>
        Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('x'), error) }));
      return expectExchangeFault(runExchange(at('jwt-bearer')));
    };
    for (const reason of ['private_address', 'domain_not_allowed', 'redirect_refused']) {
      expect(await refused({ reason })).toMatchObject({ code: 'OBO_MISCONFIGURED' });
    }
    // Whatever is wrong with it: another code is no reason to try again.
    for (const detail of ['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']) {
      const fault = await refused({ reason: 'certificate_untrusted', detail });
      expect(fault).toMatchObject({ code: 'OBO_MISCONFIGURED', detail: { hint: expect.any(String) } });
      expect(fault.detail.hint).toMatch(/certificate.*caFile/);
      expect(fault.detail.isRetryable).toBeUndefined();
    }
    expect(await refused({ reason: 'body_too_large' })).toMatchObject({ code: 'OBO_EMPTY_RESPONSE' });
    for (const error of [
      { code: 'ECONNRESET' },
      // The proxy's certificate, not the provider's.
      { reason: 'proxy_refused', detail: 'CERT_HAS_EXPIRED' },
      { reason: 'headers_timeout' },
      { message: 'private_address' },
    ]) {
      expect(await refused(error)).toMatchObject({ code: 'OBO_TEMPORARY', detail: { isRetryable: true } });
    }
  });

  test('nobody waits longer than ten seconds, or than they want to', async () => {
    rig.endpoint.reply = () => 'hang';
    await each(async (provider) => {
      let waits = true;
      const late = expectExchangeFault(runExchange(provider)).finally(() => (waits = false));
      await arrived();
      await rig.clock.advance(9_999);
      expect(waits).toBe(true);
      await rig.clock.advance(1);
      expect(await late).toMatchObject({ code: 'OBO_TEMPORARY', detail: { isRetryable: true } });
      rig.endpoint.requests.length = 0;
    });
  });

  async function arrived(): Promise<void> {
    while (rig.endpoint.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  }
});

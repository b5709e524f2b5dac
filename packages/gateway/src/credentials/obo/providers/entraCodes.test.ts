import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  createTokenEndpointRig,
  runExchange,
  expectExchangeFault,
  type TokenEndpointRig,
} from '../../../../test/tokenEndpointRig.ts';
import type { ExchangeFault, FaultCode } from '../exchangeProvider.ts';

let rig: TokenEndpointRig;
beforeEach(async () => {
  rig = await createTokenEndpointRig();
});
afterEach(() => rig.close());

async function judged(body: Readonly<Record<string, unknown>>, status = 400): Promise<ExchangeFault> {
  rig.endpoint.reply = () => ({ status, body });
  const provider = rig.provider({
    ...{ type: 'entra', authority: `${rig.endpoint.origin}/t`, clientId: 'app-1', clientSecret: 'secret' },
  });
  return expectExchangeFault(runExchange(provider));
}

describe('Entra’s numbers', () => {
  test('each says whose turn it is, what it means and what to do', async () => {
    const cases: [code: number, error: string, outcome: FaultCode, hint: RegExp][] = [
      [65001, 'invalid_grant', 'OBO_CONSENT_REQUIRED', /admin consent/],
      [50013, 'invalid_grant', 'OBO_MISCONFIGURED', /OPENID_SCOPE/],
      [500131, 'invalid_grant', 'OBO_MISCONFIGURED', /another app/],
      [500133, 'invalid_grant', 'OBO_REJECTED', /must sign in again/],
      [70011, 'invalid_scope', 'OBO_MISCONFIGURED', /\.default/],
      [28000, 'invalid_request', 'OBO_MISCONFIGURED', /one resource/],
      [700016, 'unauthorized_client', 'OBO_MISCONFIGURED', /clientId/],
      [7000215, 'invalid_client', 'OBO_MISCONFIGURED', /value, not its id/],
      [7000222, 'invalid_client', 'OBO_MISCONFIGURED', /has expired/],
      [700027, 'invalid_client', 'OBO_MISCONFIGURED', /certificate/],
      [500011, 'invalid_resource', 'OBO_MISCONFIGURED', /application id URI/],
      [50076, 'interaction_required', 'OBO_CONSENT_REQUIRED', /second factor/],
      [50079, 'invalid_grant', 'OBO_CONSENT_REQUIRED', /second factor/],
      [50158, 'invalid_grant', 'OBO_CONSENT_REQUIRED', /external security challenge/],
      [53003, 'invalid_grant', 'OBO_CONSENT_REQUIRED', /sign-in log/],
      // They depend on the user: never a reason to put a server aside for everybody.
      [50105, 'invalid_grant', 'OBO_REJECTED', /[Aa]ssign/],
      [7000114, 'invalid_grant', 'OBO_REJECTED', /not to a user/],
      [50146, 'invalid_request', 'OBO_MISCONFIGURED', /Set acceptMappedClaims.*signing key/],
      [501461, 'invalid_request', 'OBO_MISCONFIGURED', /application id of the resource.*signing key/],
      [900144, 'invalid_request', 'OBO_MISCONFIGURED', /missing/],
      [9010010, 'invalid_target', 'OBO_MISCONFIGURED', /obo\.resource/],
      [50027, 'invalid_grant', 'OBO_REJECTED', /malformed/],
      [50173, 'invalid_grant', 'OBO_REJECTED', /revoked/],
      [70043, 'invalid_grant', 'OBO_REJECTED', /policy/],
      [700082, 'invalid_grant', 'OBO_REJECTED', /not used/],
      [700084, 'invalid_grant', 'OBO_REJECTED', /expired/],
      [50196, 'invalid_grant', 'OBO_TEMPORARY', /loop/],
      [90024, 'server_error', 'OBO_TEMPORARY', /timed out/],
      [90055, 'invalid_request', 'OBO_TEMPORARY', /too many requests/],
      [70002, 'invalid_client', 'OBO_MISCONFIGURED', /secret or the certificate/],
    ];
    for (const [code, error, outcome, hint] of cases) {
      for (const body of [
        { error_codes: [code] },
        { error_description: `AADSTS${code}: words of the provider` },
      ]) {
        expect(await judged({ error, ...body })).toMatchObject({
          code: outcome,
          detail: { providerCode: `AADSTS${code}`, hint: expect.stringMatching(hint) },
        });
      }
    }
  });

  test('an ID token in place of an access token is a setting to change', async () => {
    for (const error of ['invalid_grant', 'invalid_request']) {
      expect(await judged({ error, error_codes: [240002] })).toMatchObject({
        code: 'OBO_MISCONFIGURED',
        kind: 'misconfigured',
        detail: { providerCode: 'AADSTS240002', hint: expect.stringMatching(/ID token.*OPENID_SCOPE/) },
      });
    }
  });

  test('of a description nothing but the number is taken', async () => {
    const none = [
      'AADSTS',
      'AADSTS12',
      'x AADSTS50013',
      'AADSTS50013x',
      'aadsts50013',
      'AADSTS1234567890',
      50013,
    ];
    for (const error_description of none) {
      const fault = await judged({ error: 'invalid_grant', error_description });
      expect(fault).toMatchObject({ code: 'OBO_REJECTED', detail: { providerCode: 'invalid_grant' } });
    }
    const odd = ['50013', -1, 1.5, 1e12, null, { toString: () => 'x' }];
    expect(await judged({ error: 'invalid_grant', error_codes: odd })).toMatchObject({
      code: 'OBO_REJECTED',
      detail: { providerCode: 'invalid_grant' },
    });
  });

  test('an unknown number is named; of several, the known one counts', async () => {
    const unknown = await judged({ error: 'invalid_grant', error_codes: [987654] });
    expect(unknown).toMatchObject({ code: 'OBO_REJECTED', detail: { providerCode: 'AADSTS987654' } });
    expect(unknown.detail.hint).toContain('AADSTS987654');
    expect(await judged({ error: 'invalid_grant', error_codes: [987654, 240002] })).toMatchObject({
      code: 'OBO_MISCONFIGURED',
      detail: { providerCode: 'AADSTS240002' },
    });
    expect(await judged({ error: 'invalid_request', error_codes: [90055] }, 429)).toMatchObject({
      code: 'OBO_TEMPORARY',
      detail: { isRetryable: true, hint: expect.stringMatching(/too many requests/) },
    });
    // A provider in trouble is one, whatever number it gives.
    expect(await judged({ error: 'invalid_grant', error_codes: [240002] }, 503)).toMatchObject({
      code: 'OBO_TEMPORARY',
      detail: { isRetryable: true },
    });
  });
});

import { afterEach, describe, expect, test } from '@jest/globals';
import { createOpenIdRig, GATEWAY_URL, type OpenIdRig } from '../../../test/openidRig.ts';
import type { OpenIdSettings } from './provider.ts';

const open: OpenIdRig[] = [];
const PATH = '/introspection';
const OPAQUE = 'opaque-token-of-ada';

async function createRig(overrides: Partial<OpenIdSettings> = {}) {
  const rig = await createOpenIdRig({ introspection: true, ...overrides });
  open.push(rig);
  const { issuer, clock, verifier, logged } = rig;
  const seconds = () => Math.floor(clock.now() / 1_000);
  /** What the provider says of the token from now on; `undefined` takes a member out. */
  const says = (more: Record<string, unknown> = {}) => {
    issuer.introspectionResponses.set(OPAQUE, {
      ...{
        active: true,
        token_type: 'Bearer',
        iss: issuer.url,
        aud: 'gateway',
        sub: 'ada',
        client_id: 'app',
      },
      ...{ scope: 'mcp', iat: seconds(), exp: seconds() + 300, ...more },
    });
  };
  says();
  return {
    ...rig,
    ...{ seconds, says },
    verify: (token = OPAQUE) => verifier.verify(token),
    countRequests: () => issuer.requestCounts[PATH] ?? 0,
    refuses: async (reason: string, token = OPAQUE) => {
      logged.length = 0;
      await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'AUTH_TOKEN_INVALID' });
      expect(logged).toEqual([`bearer_refused ${reason}`]);
    },
  };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

describe('bearer tokens that say nothing themselves', () => {
  test('are who the provider says', async () => {
    const { verify, says, issuer, clock } = await createRig();
    says({ email: 'ada@example.com', name: 'Ada', roles: ['editor'] });
    expect(await verify()).toMatchObject({
      ...{ kind: 'user', issuer: issuer.url, subject: 'ada', email: 'ada@example.com', roles: ['editor'] },
      ...{ clientId: 'app', endpoints: null, scopes: ['mcp'], expiresAt: clock.now() + 300_000 },
    });
    const [request] = issuer.introspections;
    expect(request).toMatchObject({ form: { token: OPAQUE, token_type_hint: 'access_token' } });
    expect(request?.authorization).toMatch(/^Basic /);
  });

  test('with the proof that the provider takes there', async () => {
    const { verify, issuer } = await createRig();
    issuer.metadata = { introspection_endpoint_auth_methods_supported: ['client_secret_post'] };
    await verify();
    expect(issuer.introspections[0]).toMatchObject({
      ...{ authorization: undefined, form: { client_id: 'gateway', client_secret: 'client-secret' } },
    });
  });

  test('are refused unasked where the operator did not say so', async () => {
    const { refuses, countRequests } = await createRig({ introspection: false });
    await refuses('malformed');
    expect(countRequests()).toBe(0);
  });

  test('a JWT is judged as one, whatever the provider would say', async () => {
    const { issuer, refuses, token, countRequests } = await createRig();
    const forged = (await token()).replace(/.{8}$/, 'AAAAAAAA');
    issuer.introspectionResponses.set(forged, issuer.introspectionResponses.get(OPAQUE) ?? {});
    await refuses('signature', forged);
    await refuses('malformed', 'not a token');
    expect(countRequests()).toBe(0);
  });

  test('pass the same checks as any other', async () => {
    const { clock, says, refuses, seconds } = await createRig({
      ...{ allowedClients: ['app'], allowedTenants: ['acme'] },
    });
    for (const [reason, said] of [
      ['audience', { aud: 'https://graph.example' }],
      ['audience', { aud: undefined }],
      ['client', { client_id: 'other' }],
      ['tenant', { tid: 'evil' }],
      ['key_bound', { cnf: { jkt: 'x' } }],
      ['subject', { sub: undefined }],
      ['issuer', { iss: 'https://evil.example' }],
      ['expired', { exp: undefined }],
      ['expired', { exp: seconds() - 1 }],
      ['not_yet_valid', { nbf: seconds() + 600 }],
      ['issued_in_future', { iat: seconds() + 600 }],
      // A refresh token: active, and nobody's bearer token.
      ['type', { token_type: undefined }],
      ['type', { token_use: 'refresh_token' }],
      ['inactive', { active: false }],
    ] as const) {
      says({ tid: 'acme', ...said });
      await refuses(reason);
      await clock.advance(30_000);
    }
  });

  test('count at the endpoint they were given for', async () => {
    const { verify, says } = await createRig();
    says({ aud: `${GATEWAY_URL}/mcp` });
    expect((await verify()).endpoints).toEqual([`${GATEWAY_URL}/mcp`]);
  });

  test('are asked about once in half a minute, by however many calls', async () => {
    const { clock, verify, countRequests, says } = await createRig();
    await Promise.all(Array.from({ length: 10 }, () => verify()));
    await clock.advance(29_000);
    await verify();
    expect(countRequests()).toBe(1);
    says({ active: false });
    await clock.advance(1_000);
    await expect(verify()).rejects.toMatchObject({ code: 'AUTH_TOKEN_INVALID' });
    expect(countRequests()).toBe(2);
  });

  test('never past their end, which is the provider’s', async () => {
    const { clock, says, callers, seconds, refuses } = await createRig();
    const known = async () => {
      const found = await callers.resolve(OPAQUE);
      return [found?.until, found?.caller.authentication];
    };
    const start = clock.now();
    // Known for as long as the answer counts; what is held open for the caller lasts as long as the token.
    expect(await known()).toMatchObject([start + 30_000, { expiresAt: start + 300_000 }]);
    await clock.advance(30_000);
    says({ exp: seconds() + 10 });
    const end = clock.now() + 10_000;
    expect(await known()).toMatchObject([end, { expiresAt: end }]);
    await clock.advance(10_000);
    await refuses('expired');
  });

  test('a refusal counts for less', async () => {
    const { clock, says, verify, countRequests, refuses } = await createRig();
    says({ active: false });
    await refuses('inactive');
    await refuses('inactive');
    expect(countRequests()).toBe(1);
    says();
    await clock.advance(5_000);
    expect(await verify()).toMatchObject({ subject: 'ada' });
  });

  test('open nothing while the provider cannot tell', async () => {
    const { clock, verify, issuer, logged } = await createRig();
    const known = await verify();
    await clock.advance(30_000);
    for (const status of [500, 401, 403, 404]) {
      issuer.failingPaths.set(PATH, status);
      await expect(verify()).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
    }
    expect(logged.every((line) => line.startsWith('openid_introspection_failed '))).toBe(true);
    issuer.failingPaths.clear();
    expect((await verify()).subject).toBe(known.subject);
  });

  test('nor where it has no place to be asked', async () => {
    const { verify, issuer } = await createRig();
    issuer.metadata = { introspection_endpoint: undefined };
    await expect(verify()).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
  });
});

import { createHash } from 'node:crypto';
import { createKeyring, systemRandom } from '@behalf/kernel';
import { afterEach, describe, expect, test } from '@jest/globals';
import { CALLBACK, createOpenIdRig, completeLogin, type OpenIdRig } from '../../../test/openidRig.ts';
import { createLoginFlows } from './openIdLogin.ts';
import type { OpenIdSettings } from './provider.ts';
import { toReturnPath } from './returnPath.ts';

const open: OpenIdRig[] = [];

async function createRig(overrides: Partial<OpenIdSettings> = {}) {
  const rig = await createOpenIdRig(overrides);
  open.push(rig);
  /** Fails alike for whoever looks on, and with this reason in the log. */
  const fails = async (login: Promise<unknown>, reason: string) => {
    await expect(login).rejects.toMatchObject({ code: 'OPENID_FAILED', cause: undefined });
    expect(rig.logged.at(-1)).toBe(`openid_login_failed ${reason}`);
  };
  return { ...rig, fails };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((rig) => rig.close()));
});

describe('login at the identity provider', () => {
  test('the browser is sent off with PKCE, state and nonce of its own', async () => {
    const { login, issuer, clock } = await createRig({ audience: 'https://gateway.example' });
    const { url, flow, expiresAt } = await login.start('/');
    const requestUrl = new URL(url);
    expect(requestUrl.origin + requestUrl.pathname).toBe(`${issuer.url}/authorization`);
    expect(Object.fromEntries(requestUrl.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'gateway',
      redirect_uri: CALLBACK,
      scope: 'openid profile email',
      audience: 'https://gateway.example',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(expiresAt).toBe(clock.now() + 600_000);
    expect(flow.length).toBeLessThan(2_048);
    const again = new URL((await login.start('/')).url);
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(again.searchParams.get(name)).not.toBe(requestUrl.searchParams.get(name));
    }
  });

  test('claims go to the provider as they are, and the flow remembers', async () => {
    const { login, issuer } = await createRig();
    const claims = '{"access_token":{"acrs":{"essential":true,"value":"c1 & prompt=none"}}}';
    for (const [returnTo, sent] of [
      [claims, claims],
      [undefined, null],
    ] as const) {
      const { url, flow } = await login.start('/', { claims: returnTo });
      expect(new URL(url).searchParams.get('claims')).toBe(sent);
      expect(new URL(url).searchParams.has('prompt')).toBe(false);
      const query = `?${issuer.authorize(url).toString()}`;
      expect(await login.finish({ flow, query })).toMatchObject({ hasClaims: sent !== null });
      // Also where it is not finished. Of what is not ours nothing is known.
      expect(login.hasRequestedClaims(flow)).toBe(sent !== null);
      expect(login.hasRequestedClaims(`${flow}x`)).toBe(false);
    }
  });

  test('who comes back is who the ID token says', async () => {
    const rig = await createRig({ groupsClaim: 'groups' });
    const { issuer, clock } = rig;
    issuer.idClaims = { name: 'Ada', email: 'ada@example.com', roles: ['editor'], groups: ['g'] };
    const { verified, tokens, returnTo } = await completeLogin(rig);
    expect(verified).toMatchObject({
      ...{ kind: 'user', issuer: issuer.url, subject: 'ada', tenant: 'default' },
      ...{ name: 'Ada', email: 'ada@example.com', roles: ['editor'], groups: ['g'] },
    });
    expect(tokens).toEqual({
      ...{ issuer: issuer.url, subject: 'ada' },
      accessToken: 'opaque-access',
      refreshToken: 'refresh-1',
      idToken: expect.stringMatching(/^ey/),
      expiresAt: clock.now() + 600_000,
    });
    expect(returnTo).toBe('/tools?x=1');
    const [request] = issuer.tokenRequests;
    expect(request!.form).toMatchObject({ grant_type: 'authorization_code', redirect_uri: CALLBACK });
  });

  test('the client proves itself as the metadata says', async () => {
    const rig = await createRig();
    await completeLogin(rig);
    const [scheme, basic = ''] = rig.issuer.tokenRequests.at(-1)!.authorization!.split(' ');
    expect(scheme).toBe('Basic');
    expect(decodeURIComponent(Buffer.from(basic, 'base64').toString())).toBe('gateway:client-secret');
    expect(rig.issuer.tokenRequests.at(-1)?.form.client_secret).toBeUndefined();

    const posting = await createRig();
    posting.issuer.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    await completeLogin(posting);
    expect(posting.issuer.tokenRequests.at(-1)).toMatchObject({
      authorization: undefined,
      form: { client_id: 'gateway', client_secret: 'client-secret' },
    });

    const bare = await createRig({ clientSecret: null });
    await completeLogin(bare);
    expect(bare.issuer.tokenRequests.at(-1)?.authorization).toBeUndefined();
    expect(bare.issuer.tokenRequests.at(-1)?.form).toMatchObject({ client_id: 'gateway' });
  });

  test('another’s answer, or one without state, is not taken', async () => {
    const rig = await createRig();
    await rig.fails(
      completeLogin(rig, (query) => query.set('state', 'x'.repeat(43))),
      'OAUTH_INVALID_RESPONSE',
    );
    await rig.fails(
      completeLogin(rig, (query) => query.delete('state')),
      'OAUTH_INVALID_RESPONSE',
    );
    const other = await rig.login.start('/');
    await rig.fails(
      completeLogin(rig, (query) => {
        for (const [name, value] of rig.issuer.authorize(other.url)) query.set(name, value);
      }),
      'OAUTH_INVALID_RESPONSE',
    );
    expect(rig.issuer.tokenRequests).toEqual([]);
  });

  test('an answer in the name of another issuer is not taken', async () => {
    const rig = await createRig();
    const evil = (query: URLSearchParams) => query.set('iss', 'https://evil.example');
    await rig.fails(completeLogin(rig, evil), 'OAUTH_INVALID_RESPONSE');
    await completeLogin(rig, (query) => query.delete('iss'));
    const strict = await createRig();
    strict.issuer.metadata = { authorization_response_iss_parameter_supported: true };
    await strict.fails(
      completeLogin(strict, (query) => query.delete('iss')),
      'OAUTH_INVALID_RESPONSE',
    );
    expect(strict.issuer.tokenRequests).toEqual([]);
  });

  test('a code that another browser got is worth nothing', async () => {
    const rig = await createRig();
    const victim = await rig.login.start('/');
    const stolen = rig.issuer.authorize(victim.url).get('code')!;
    const own = await rig.login.start('/');
    const query = rig.issuer.authorize(own.url);
    query.set('code', stolen);
    await rig.fails(rig.login.finish({ flow: own.flow, query: `?${query.toString()}` }), 'invalid_grant');
    const { code_verifier: verifier = '' } = rig.issuer.tokenRequests[0]!.form;
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    expect(new URL(own.url).searchParams.get('code_challenge')).toBe(challenge);
  });

  test('an ID token that is not for this login is refused', async () => {
    const wrong: [Record<string, unknown>, string][] = [
      [{ nonce: 'another' }, 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
      [{ nonce: undefined }, 'OAUTH_INVALID_RESPONSE'],
      [{ aud: 'somebody' }, 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
      [{ aud: ['gateway', 'somebody'] }, 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
      [{ azp: 'somebody' }, 'authorized_party'],
      [{ iss: 'https://evil.example' }, 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
      [{ exp: 1_000 }, 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED'],
    ];
    const rig = await createRig();
    for (const [claims, reason] of wrong) {
      rig.issuer.idClaims = claims;
      await rig.fails(completeLogin(rig), reason);
    }
    rig.issuer.idClaims = {};
    rig.issuer.tokenResponse = { id_token: undefined };
    await rig.fails(completeLogin(rig), 'OAUTH_INVALID_RESPONSE');
  });

  test('an ID token that the issuer did not sign is refused', async () => {
    const rig = await createRig();
    rig.issuer.idTokenKey = 'stranger';
    await rig.fails(completeLogin(rig), 'unknown_key');
    rig.issuer.idTokenKey = 'k1';
    const [header, , signature] = (await completeLogin(rig)).tokens.idToken.split('.');
    const { flow, url } = await rig.login.start('/');
    const now = Math.floor(rig.clock.now() / 1_000);
    const forged = { iss: rig.issuer.url, aud: 'gateway', sub: 'root', iat: now, exp: now + 300 };
    const claims = { ...forged, nonce: new URL(url).searchParams.get('nonce') };
    const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
    rig.issuer.tokenResponse = { id_token: [header, body, signature].join('.') };
    const query = rig.issuer.authorize(url).toString();
    await rig.fails(rig.login.finish({ flow, query }), 'signature');
  });

  test('a login is finished by the browser that began it, in ten minutes', async () => {
    const rig = await createRig();
    const { login, issuer, clock, fails } = rig;
    const { url, flow } = await login.start('/');
    const query = issuer.authorize(url).toString();
    for (const other of ['', 'x', `${flow}x`, `${flow.slice(0, -2)}AA`]) {
      await fails(login.finish({ flow: other, query }), 'flow');
    }
    await clock.advance(600_000);
    await fails(login.finish({ flow, query }), 'flow');
    expect(issuer.tokenRequests).toEqual([]);
  });

  test('a flow is sealed to this gateway, its provider and its client', async () => {
    const { clock, keyring, issuer } = await createRig();
    const settings = { issuer: issuer.url, clientId: 'gateway' };
    const secrets = { state: 'the-state', nonce: 'the-nonce', verifier: 'the-verifier' };
    const more = { redirectUri: CALLBACK, returnTo: '/', hasClaims: false };
    const flow = { ...secrets, ...more, expiresAt: clock.now() + 1 };
    const sealed = createLoginFlows({ keyring, clock, settings }).seal(flow);
    expect(Buffer.from(sealed.split('.')[3]!, 'base64url').toString()).not.toContain('the-verifier');
    expect(createLoginFlows({ keyring, clock, settings }).open(sealed)).toEqual(flow);
    const otherKeyring = createKeyring([new Uint8Array(32).fill(2)], systemRandom);
    for (const other of [
      { keyring: otherKeyring, clock, settings },
      { keyring, clock, settings: { ...settings, clientId: 'other' } },
      { keyring, clock, settings: { ...settings, issuer: 'https://other.example' } },
    ]) {
      expect(createLoginFlows(other).open(sealed)).toBeNull();
    }
  });

  test('a login leads back to a path of ours and nowhere else', async () => {
    for (const path of ['/', '/tools?x=1#y', '/a/b', '/@x', '/%2F%2Fevil.example']) {
      expect(toReturnPath(path)).toBe(path);
    }
    for (const path of [
      undefined,
      '',
      'tools',
      '//evil.example',
      '/\\evil.example',
      '\\/evil.example',
      'https://evil.example',
      'javascript:alert(1)',
      '/\t/evil.example',
      '/\n/evil.example',
      '/x\r\nSet-Cookie: a=b',
      '/a\\b',
      ' //evil.example',
      `/${'x'.repeat(1_024)}`,
    ]) {
      expect(toReturnPath(path)).toBe('/');
    }
  });

  test('what the ID token leaves out the provider may tell apart', async () => {
    const rig = await createRig();
    rig.issuer.idClaims = { roles: ['reader'] };
    rig.issuer.userinfo = { sub: 'ada', name: 'Ada', roles: ['ADMIN'] };
    expect((await completeLogin(rig)).verified).toMatchObject({ name: 'Ada', roles: ['reader'] });
    rig.issuer.userinfo = { sub: 'eve', name: 'Eve' };
    await expect(completeLogin(rig)).rejects.toMatchObject({ code: 'OPENID_FAILED' });
    rig.issuer.userinfo = null;
    expect((await completeLogin(rig)).verified).toMatchObject({ subject: 'ada', name: '' });
  });

  test('a rule is looked up where it says, and nowhere else', async () => {
    for (const from of ['access', 'id', 'userinfo'] as const) {
      const rig = await createRig({
        adminRole: { values: ['boss'], claim: 'teams', from },
        requiredRole: { values: ['staff'], claim: 'teams', from },
      });
      const place = async (where: string, teams: string[]) => {
        rig.issuer.idClaims = where === 'id' ? { teams } : {};
        rig.issuer.userinfo = { sub: 'ada', ...(where === 'userinfo' && { teams }) };
        rig.issuer.tokenResponse = {
          access_token: await rig.token(where === 'access' ? { teams } : {}),
        };
        return (await completeLogin(rig)).verified;
      };
      for (const where of ['access', 'id', 'userinfo']) {
        const holds = where === from;
        expect(await place(where, ['boss', 'staff'])).toMatchObject({
          hasAdminRole: holds,
          isAdmitted: holds,
        });
      }
    }
  });

  test('an access token that is not for us says nothing', async () => {
    const rig = await createRig({ adminRole: { values: ['boss'], claim: 'roles', from: 'access' } });
    for (const claims of [{ aud: 'https://graph.example' }, { iss: 'https://evil.example' }]) {
      rig.issuer.tokenResponse = { access_token: await rig.token({ roles: ['boss'], ...claims }) };
      expect((await completeLogin(rig)).verified.hasAdminRole).toBe(false);
    }
  });

  test('only the tenants on the list sign in', async () => {
    const rig = await createRig({ allowedTenants: ['t1'] });
    rig.issuer.idClaims = { tid: 't2' };
    await rig.fails(completeLogin(rig), 'tenant');
    rig.issuer.idClaims = { tid: 't1' };
    await completeLogin(rig);
  });

  test('a refusal of the provider is not shown in its words', async () => {
    const rig = await createRig();
    const denied = (query: URLSearchParams) => {
      query.delete('code');
      query.set('error', 'access_denied');
      query.set('error_description', 'words of the provider');
    };
    await rig.fails(completeLogin(rig, denied), 'access_denied');
    const rude = (query: URLSearchParams) => query.set('error', 'words of\nthe provider');
    await rig.fails(completeLogin(rig, rude), 'unknown');
    rig.issuer.tokenResponse = { token_type: 'DPoP' };
    await rig.fails(completeLogin(rig), 'key_bound');
  });

  test('a provider that does not answer is not a failed login', async () => {
    for (const path of ['/token', '/userinfo', '/jwks']) {
      const rig = await createRig();
      rig.issuer.failingPaths.set(path, 503);
      await expect(completeLogin(rig)).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
    }
    const rigWithoutUser = await createRig();
    rigWithoutUser.issuer.failingPaths.set('/.well-known/openid-configuration', 503);
    await expect(rigWithoutUser.login.start('/')).rejects.toMatchObject({ code: 'OPENID_UNAVAILABLE' });
  });
});

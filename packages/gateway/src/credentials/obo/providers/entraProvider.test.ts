import { X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import { systemClock, systemRandom } from '@behalf/kernel';
import { createTestNetwork } from '@behalf/testkit';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { createDevAuthority, createTrustingFetch } from '../../../../../devidp/src/devAuthority.ts';
import { testCertificate, testKey } from '../../../../../egress/test/certificate.ts';
import { createTokenReply, startTokenEndpoint } from '../../../../test/tokenEndpoint.ts';
import {
  createTokenEndpointRig,
  runExchange,
  expectExchangeFault,
  type TokenEndpointRig,
} from '../../../../test/tokenEndpointRig.ts';
import { createEntraNetwork, createEntraProvider } from './entra.ts';
import { createProviderClient } from './providerClient.ts';

const { version } = createRequire(import.meta.url)('@azure/msal-node/package.json') as { version: string };
const CP1 =
  '{"id_token":{"signin_state":{"essential":false},"login_hint":{"essential":false},' +
  '"tenant_region_sub_scope":{"essential":false}},"access_token":{"xms_cc":{"values":["CP1"]}}}';

let rig: TokenEndpointRig;
beforeEach(async () => {
  rig = await createTokenEndpointRig();
});
afterEach(() => rig.close());

const entra = (overrides: object = {}) =>
  rig.provider({
    ...{ type: 'entra', authority: `${rig.endpoint.origin}/tenant-1`, clientId: 'app-1' },
    ...{ clientSecret: 's e:c&r+e%t', ...overrides },
  });

describe('entra', () => {
  test('what is posted to Entra, byte for byte', async () => {
    const token = await runExchange(entra(), { scopes: ['api://files/read', 'api://files/list'] });
    expect(token).toEqual({
      ...{ token: 'exchanged-token', lifetimeMs: 3_599_000, scopes: undefined },
      expiresAt: rig.clock.now() + 3_599_000,
    });
    const [request] = rig.endpoint.requests;
    const id =
      /\?client-request-id=([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$/.exec(
        request!.path,
      )![1]!;
    expect(request).toMatchObject({
      method: 'POST',
      path: `/tenant-1/oauth2/v2.0/token?client-request-id=${id}`,
    });
    expect(request!.headers).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded;charset=utf-8',
    });
    expect(request!.headers.authorization).toBeUndefined();
    const fields = [
      ['client_id', 'app-1'],
      ['scope', 'api://files/read api://files/list openid profile offline_access'],
      ['grant_type', 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
      ['client_info', '1'],
      ['x-client-SKU', 'msal.js.node'],
      ['x-client-VER', version],
      ['x-client-OS', process.platform],
      ['x-client-CPU', process.arch],
      ['x-ms-lib-capability', 'retry-after, h429'],
      ['client-request-id', id],
      ['requested_token_use', 'on_behalf_of'],
      ['assertion', 'subject-token-of-ada'],
      ['client_secret', 's e:c&r+e%t'],
      ['claims', CP1],
    ];
    expect(request!.body).toBe(
      fields.map(([name, value]) => `${name}=${encodeURIComponent(value!)}`).join('&'),
    );
  });

  test('the request is formed by Microsoft’s own library', async () => {
    await runExchange(entra());
    expect(rig.endpoint.requests[0]!.form).toMatchObject({
      'x-client-SKU': 'msal.js.node',
      'x-client-VER': version,
      'x-ms-lib-capability': 'retry-after, h429',
    });
  });

  test('a claims challenge goes along with what we can do', async () => {
    await runExchange(entra(), { claims: '{"access_token":{"acrs":{"essential":true,"value":"c1"}}}' });
    expect(JSON.parse(rig.endpoint.requests[0]!.form['claims']!)).toMatchObject({
      access_token: { acrs: { essential: true, value: 'c1' }, xms_cc: { values: ['CP1'] } },
    });
    const fault = await expectExchangeFault(runExchange(entra(), { claims: 'no JSON' }));
    expect(fault).toMatchObject({ code: 'OBO_MISCONFIGURED' });
    expect(rig.endpoint.requests).toHaveLength(1);
  });

  test('a certificate proves the client, and a new one counts at once', async () => {
    const authority = await createDevAuthority();
    const provider = entra({
      clientSecret: undefined,
      certificateFile: 'cert.pem',
      privateKeyFile: 'key.pem',
    });
    const [before, after] = await Promise.all([authority.issueClient('a'), authority.issueClient('b')]);
    const versions: string[] = [];
    for (const { cert, key, thumbprint } of [before, after]) {
      rig.files.set('cert.pem', cert).set('key.pem', key);
      await runExchange(provider);
      versions.push(provider.identity.credentialVersion);
      const { form } = rig.endpoint.requests.at(-1)!;
      expect(form).toMatchObject({
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        requested_token_use: 'on_behalf_of',
      });
      expect(form['client_secret']).toBeUndefined();
      const assertion = form['client_assertion']!;
      expect(decodeProtectedHeader(assertion)).toEqual({
        alg: 'PS256',
        typ: 'JWT',
        'x5t#S256': Buffer.from(thumbprint, 'hex').toString('base64url'),
      });
      const { payload } = await jwtVerify(assertion, new X509Certificate(cert).publicKey, {
        audience: `${rig.endpoint.origin}/tenant-1/oauth2/v2.0/token`,
        // The library rounds to whole seconds.
        clockTolerance: 1,
        issuer: 'app-1',
        subject: 'app-1',
      });
      // The library’s clock is the system’s, and rounded.
      expect(payload.exp! * 1_000 - systemClock.now()).toBeLessThanOrEqual(601_000);
    }
    expect(new Set(versions).size).toBe(2);
  });

  test('a key that is not the certificate’s is not used', async () => {
    const authority = await createDevAuthority();
    const [one, other] = await Promise.all([authority.issueClient('a'), authority.issueClient('b')]);
    const settings = { clientSecret: undefined, certificateFile: 'cert.pem', privateKeyFile: 'key.pem' };
    rig.files.set('cert.pem', one.cert).set('key.pem', other.key);
    expect(await expectExchangeFault(runExchange(entra(settings)))).toMatchObject({
      code: 'OBO_MISCONFIGURED',
      detail: { hint: expect.stringContaining('does not belong') },
    });
    rig.files.set('key.pem', 'garbage with a secret');
    const fault = await expectExchangeFault(runExchange(entra(settings)));
    expect(fault.code).toBe('OBO_MISCONFIGURED');
    expect(JSON.stringify([fault.message, fault.detail, String(fault.cause)])).not.toContain('secret');
    // A kind of key that Entra does not take.
    rig.files.set('cert.pem', testCertificate).set('key.pem', testKey);
    expect(await expectExchangeFault(runExchange(entra(settings)))).toMatchObject({
      code: 'OBO_MISCONFIGURED',
    });
    rig.files.clear();
    expect(await expectExchangeFault(runExchange(entra(settings)))).toMatchObject({
      code: 'OBO_MISCONFIGURED',
    });
    expect(rig.endpoint.requests).toEqual([]);
  });

  test('a federated assertion is read anew for each exchange', async () => {
    const provider = entra({ clientSecret: undefined, assertionFile: 'federated.jwt' });
    const { credentialVersion } = provider.identity;
    for (const text of ['first.assertion', 'second.assertion']) {
      rig.files.set('federated.jwt', `${text}\n`);
      await runExchange(provider);
      const { form } = rig.endpoint.requests.at(-1)!;
      expect([form['client_assertion'], form['client_secret']]).toEqual([text, undefined]);
    }
    // Renewed all the time, and still the same client's.
    expect(provider.identity.credentialVersion).toBe(credentialVersion);
    for (const text of ['', 'two words', undefined]) {
      if (text === undefined) rig.files.clear();
      else rig.files.set('federated.jwt', text);
      expect(await expectExchangeFault(runExchange(provider))).toMatchObject({ code: 'OBO_MISCONFIGURED' });
    }
    expect(rig.endpoint.requests).toHaveLength(2);
  });

  test('an app without any proof sends nothing', async () => {
    const missing = [
      entra({ clientSecret: undefined }),
      entra({ clientId: undefined }),
      entra({ clientSecret: undefined, privateKeyFile: 'key.pem' }),
    ];
    rig.files.set('key.pem', testKey);
    for (const provider of missing) {
      expect(await expectExchangeFault(runExchange(provider))).toMatchObject({ code: 'OBO_MISCONFIGURED' });
    }
    expect(rig.requests).toEqual([]);
  });
});

describe('entra keeps nothing', () => {
  test('each exchange is a request of its own', async () => {
    const provider = entra();
    let count = 0;
    rig.endpoint.reply = () => createTokenReply({ access_token: `token-${(count += 1)}` });
    const tokens = [await runExchange(provider), await runExchange(provider)].map(({ token }) => token);
    expect(tokens).toEqual(['token-1', 'token-2']);
    await Promise.all(Array.from({ length: 5 }, () => runExchange(provider)));
    expect(rig.endpoint.requests).toHaveLength(7);
  });

  test('one user’s 429 or 500 does not stop another', async () => {
    const provider = entra();
    for (const status of [429, 500, 503]) {
      rig.endpoint.reply = ({ form }) =>
        form['assertion'] === 'subject-token-of-ada'
          ? { status, headers: { 'retry-after': '60' }, body: { error: 'temporarily_unavailable' } }
          : createTokenReply();
      expect(await expectExchangeFault(runExchange(provider))).toMatchObject({
        code: 'OBO_TEMPORARY',
        detail: { status, isRetryable: true, retryAfterMs: 60_000 },
      });
      expect(await runExchange(provider, { user: 'bob' })).toMatchObject({ token: 'exchanged-token' });
      // Nor the same user's next one: when to ask again is decided around it.
      rig.endpoint.reply = () => createTokenReply();
      expect(await runExchange(provider)).toMatchObject({ token: 'exchanged-token' });
    }
    expect(rig.endpoint.requests).toHaveLength(9);
  });

  test('whatever the answer, one exchange is one request', async () => {
    const provider = entra();
    const replies = [
      createTokenReply(),
      { status: 500, body: {} },
      { status: 429, body: {} },
      { status: 400, body: { error: 'invalid_grant' } },
      { status: 400, body: { error: 'use_dpop_nonce' }, headers: { 'dpop-nonce': 'n' } },
      { status: 307, headers: { location: `${rig.endpoint.origin}/elsewhere` } },
      { body: 'no JSON' },
      'close' as const,
      'cut' as const,
    ];
    for (const [index, reply] of replies.entries()) {
      rig.endpoint.reply = () => reply;
      await runExchange(provider).catch(() => undefined);
      expect(rig.endpoint.requests).toHaveLength(index + 1);
    }
  });

  test('nothing leaves for any address but the token endpoint', async () => {
    const tenant = '11111111-2222-4333-8444-555555555555';
    const issuers = [
      [`https://login.microsoftonline.com/${tenant}/v2.0`, 'https://login.microsoftonline.com'],
      [`https://login.microsoftonline.us/${tenant}/v2.0`, 'https://login.microsoftonline.us'],
      [`https://login.partner.microsoftonline.cn/${tenant}/v2.0`, 'https://login.partner.microsoftonline.cn'],
      [`https://login.microsoft.com/${tenant}/v2.0`, 'https://login.microsoft.com'],
      [`https://login.windows.net/${tenant}/v2.0`, 'https://login.windows.net'],
      [`https://sts.windows.net/${tenant}/`, 'https://login.microsoftonline.com'],
    ] as const;
    const door = rig.fetch;
    rig.fetch = (url, init) => door(`${rig.endpoint.origin}${new URL(url).pathname}`, init);
    for (const [issuer, origin] of issuers) {
      const login = { issuer, clientId: 'app-1', clientSecret: 'secret' };
      const provider = rig.providers([], login).find({})!;
      const endpoint = `${origin}/${tenant}/oauth2/v2.0/token`;
      expect(provider.identity).toMatchObject({ grant: 'entra', endpoint });
      rig.requests.length = 0;
      await runExchange(provider);
      expect(rig.requests.map((url) => url.split('?')[0])).toEqual([endpoint]);
    }
  });

  test('the library is let out to nowhere else, and once', async () => {
    const tokenEndpoint = `${rig.endpoint.origin}/t/oauth2/v2.0/token`;
    const network = createEntraNetwork({
      ...{ fetch: rig.fetch, clock: rig.clock, tokenEndpoint },
      signal: new AbortController().signal,
    });
    const { client } = network;
    const others = [
      `${rig.endpoint.origin}/t/oauth2/v2.0/token2`,
      `${rig.endpoint.origin}/common/discovery/instance`,
      `http://127.0.0.1:1/t/oauth2/v2.0/token`,
    ];
    for (const url of others) await expect(client.sendPostRequestAsync(url)).rejects.toThrow('not the token');
    for (const url of [...others, tokenEndpoint]) {
      await expect(client.sendGetRequestAsync(url)).rejects.toThrow('GET requests are not allowed');
    }
    expect(network.response()).toBeUndefined();
    await client.sendPostRequestAsync(`${tokenEndpoint}?client-request-id=x`);
    await expect(client.sendPostRequestAsync(tokenEndpoint)).rejects.toThrow('one request');
    expect(rig.endpoint.requests).toHaveLength(1);
  });

  test('an answer that the library takes for an empty token is refused', async () => {
    const provider = entra();
    rig.endpoint.reply = () => ({ status: 500, body: {} });
    expect(await expectExchangeFault(runExchange(provider))).toMatchObject({
      code: 'OBO_TEMPORARY',
      detail: { status: 500 },
    });
    rig.endpoint.reply = () => ({ body: {} });
    expect(await expectExchangeFault(runExchange(provider))).toMatchObject({ code: 'OBO_EMPTY_RESPONSE' });
    // What the library itself cannot read is no answer of Entra's, whatever token it holds.
    rig.endpoint.reply = () => createTokenReply({ id_token: 'not a token', client_info: '!' });
    expect(await expectExchangeFault(runExchange(provider))).toMatchObject({ code: 'OBO_EMPTY_RESPONSE' });
  });

  test('without the library, the operator is told and nothing is sent', async () => {
    const settings = { name: 'p', type: 'entra', clientId: 'app-1', isDerived: false } as const;
    const parts = { fetch: rig.fetch, clock: rig.clock, random: systemRandom };
    const readText = () => Promise.reject(new Error('no such file'));
    const address = { tokenEndpoint: rig.endpoint.origin, clientSecret: 's' };
    const provider = createEntraProvider(
      {
        ...parts,
        client: createProviderClient({ settings: { ...settings, ...address }, readText, ...parts }),
        actor: { fingerprint: () => '', read: async () => undefined },
      },
      () => Promise.reject(new Error('Cannot find package')),
    );
    expect(await expectExchangeFault(runExchange(provider))).toMatchObject({
      code: 'OBO_MISCONFIGURED',
      detail: { hint: expect.stringMatching(/^identityProviders\.p: @azure\/msal-node cannot be loaded/) },
    });
    expect(rig.endpoint.requests).toEqual([]);
  });

  test('over TLS, by the authority that caFile names', async () => {
    const authority = await createDevAuthority();
    const secure = await startTokenEndpoint(await authority.issue());
    const network = createTestNetwork([secure.port]);
    try {
      const provider = entra({ authority: `${secure.origin}/tenant-1`, caFile: 'ca.pem' });
      expect(rig.caFiles).toEqual(['ca.pem']);
      rig.fetch = network.fetchTo({ url: secure.origin, audience: 'identity' });
      expect(await expectExchangeFault(runExchange(provider))).toMatchObject({
        code: 'OBO_MISCONFIGURED',
        detail: { hint: expect.stringContaining('caFile') },
      });
      expect(secure.requests).toEqual([]);
      rig.fetch = createTrustingFetch(authority.caPem);
      expect(await runExchange(provider)).toMatchObject({ token: 'exchanged-token' });
    } finally {
      await network.close();
      await secure.close();
    }
  });
});

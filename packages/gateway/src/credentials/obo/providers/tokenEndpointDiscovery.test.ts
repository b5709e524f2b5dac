import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTokenReply, type TokenEndpointReply } from '../../../../test/tokenEndpoint.ts';
import {
  createTokenEndpointRig,
  runExchange,
  expectExchangeFault,
  type TokenEndpointRig,
} from '../../../../test/tokenEndpointRig.ts';

let rig: TokenEndpointRig;
let origin: string;
/** What is published, by path; anything else is not there. */
let documents: Map<string, () => TokenEndpointReply>;
beforeEach(async () => {
  rig = await createTokenEndpointRig();
  ({ origin } = rig.endpoint);
  documents = new Map();
  rig.endpoint.reply = ({ method, path }) =>
    method === 'POST' ? createTokenReply() : (documents.get(path)?.() ?? { status: 404, body: 'not here' });
});
afterEach(() => rig.close());

const OIDC = '/.well-known/openid-configuration';
const document = (overrides: object = {}, issuer = origin) => ({
  issuer,
  token_endpoint: `${origin}/token`,
  ...overrides,
});
const at = (issuer = origin) => rig.provider({ type: 'jwt-bearer', issuer, clientId: 'c' });
const paths = (method: string) =>
  rig.endpoint.requests.filter((request) => request.method === method).map(({ path }) => path);

describe('discovery of the token endpoint', () => {
  test('once an hour, by many at once', async () => {
    documents.set(OIDC, () => ({ body: document() }));
    const provider = at();
    await Promise.all(Array.from({ length: 10 }, (_, user) => runExchange(provider, { user: `${user}` })));
    await rig.clock.advance(3_599_999);
    await runExchange(provider);
    expect(paths('GET')).toEqual([OIDC]);
    await rig.clock.advance(1);
    documents.set(OIDC, () => ({ body: document({ token_endpoint: `${origin}/moved` }) }));
    await runExchange(provider);
    expect(paths('GET')).toEqual([OIDC, OIDC]);
    expect(paths('POST').at(-1)).toBe('/moved');
    // The key is the issuer's: it does not change while an endpoint is looked up.
    expect(provider.identity.endpoint).toBe(origin);
  });

  test('where OpenID Connect says, else where RFC 8414 says', async () => {
    const issuer = `${origin}/realms/one`;
    documents.set('/.well-known/oauth-authorization-server/realms/one', () => ({
      body: document({}, issuer),
    }));
    await runExchange(at(issuer));
    expect(paths('GET')).toEqual([
      `/realms/one${OIDC}`,
      '/.well-known/oauth-authorization-server/realms/one',
    ]);
    documents.set(`/realms/one${OIDC}`, () => ({
      body: document({ token_endpoint: `${origin}/oidc` }, issuer),
    }));
    await runExchange(at(issuer));
    expect(paths('POST')).toEqual(['/token', '/oidc']);
  });

  test('a document of another issuer, or of none, names no endpoint', async () => {
    for (const issuer of [`${origin}/`, 'https://evil.example', undefined, 7, origin.toUpperCase()]) {
      documents.set(OIDC, () => ({ body: document({ issuer }) }));
      expect(await expectExchangeFault(runExchange(at()))).toMatchObject({
        code: 'OBO_MISCONFIGURED',
        detail: { hint: expect.stringContaining('must match exactly') },
      });
    }
    expect(paths('POST')).toEqual([]);
  });

  test('no secret and no token goes over plain http, except on this machine', async () => {
    for (const token_endpoint of ['http://idp.example/token', 'ftp://x/', 'token', 7, undefined]) {
      documents.set(OIDC, () => ({ body: document({ token_endpoint }) }));
      expect(await expectExchangeFault(runExchange(at()))).toMatchObject({ code: 'OBO_MISCONFIGURED' });
    }
    const requestCount = rig.requests.length;
    for (const url of [
      'http://idp.example',
      'http://10.0.0.1',
      'http://127.0.0.1.evil.example',
      'https://u:p@idp.example',
      'x',
    ]) {
      expect(await expectExchangeFault(runExchange(at(url)))).toMatchObject({ code: 'OBO_MISCONFIGURED' });
      for (const type of ['jwt-bearer', 'token-exchange', 'entra'] as const) {
        const provider = rig.provider({
          type,
          tokenEndpoint: `${url}/token`,
          clientId: 'c',
          clientSecret: 's',
        });
        expect(await expectExchangeFault(runExchange(provider))).toMatchObject({ code: 'OBO_MISCONFIGURED' });
      }
    }
    expect(rig.requests).toHaveLength(requestCount);
    expect(paths('POST')).toEqual([]);
    // An issuer over https names no endpoint without it.
    rig.fetch = async () => Response.json(document({}, 'https://idp.example'));
    expect(await expectExchangeFault(runExchange(at('https://idp.example')))).toMatchObject({
      code: 'OBO_MISCONFIGURED',
    });
  });

  test('a provider that cannot be asked is away, and is asked again', async () => {
    const provider = at();
    const failures: [TokenEndpointReply, boolean][] = [
      [{ status: 503, body: '' }, true],
      ['close', true],
      [{ status: 404, body: '' }, false],
      [{ body: 'no JSON' }, false],
    ];
    for (const [reply, mayRepeat] of failures) {
      documents.set(OIDC, () => reply);
      const fault = await expectExchangeFault(runExchange(provider));
      expect(fault).toMatchObject({ code: 'OBO_TEMPORARY', kind: 'idp_unavailable' });
      expect(fault.detail.isRetryable ?? false).toBe(mayRepeat);
    }
    documents.set(OIDC, () => ({ body: document() }));
    expect(await runExchange(provider)).toMatchObject({ token: 'exchanged-token' });
  });

  test('a provider without any address sends nothing', async () => {
    for (const type of ['jwt-bearer', 'token-exchange', 'entra'] as const) {
      const provider = rig.provider({ type, clientId: 'c', clientSecret: 's' });
      expect(await expectExchangeFault(runExchange(provider))).toMatchObject({ code: 'OBO_MISCONFIGURED' });
    }
    expect(rig.requests).toEqual([]);
  });
});

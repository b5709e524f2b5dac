import type { Env } from '@behalf/contracts';
import { type Fetch, systemClock } from '@behalf/kernel';
import { loadSettings } from '@behalf/settings';
import { describe, expect, test } from '@jest/globals';
import type { Configuration } from './configuration.ts';
import { createIdentityIssuers } from './network.ts';

const pool = 'https://pool.example/eu-1';
const entra = 'https://login.microsoftonline.com/contoso/v2.0';

function issuersOf(login: string | undefined, identityProviders: object = {}) {
  const requests: string[] = [];
  const answering =
    (by: string): Fetch =>
    (url) => {
      requests.push(`${by} ${String(url)}`);
      const issuer = String(url).replace('/.well-known/openid-configuration', '');
      return Promise.resolve(
        Response.json({
          issuer,
          jwks_uri: `${issuer}/jwks`,
          authorization_endpoint: 'https://pool.auth.example/authorize',
          token_endpoint: 'https://pool.auth.example/token',
        }),
      );
    };
  const loaded = loadSettings(JSON.stringify({ identityProviders }), { env: {} });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.diagnostics));
  const issuers = createIdentityIssuers({
    env: { OPENID_ISSUER: login } as Env,
    configuration: { current: () => loaded.settings } as Configuration,
    egress: { identity: answering('login'), identityTo: ({ caFile }) => answering(caFile ?? 'public') },
    clock: systemClock,
  });
  return { issuers, requests };
}

describe('who signs people in', () => {
  test('the login’s endpoints are those of its metadata', async () => {
    const { issuers, requests } = issuersOf(pool);
    expect(issuers.list()).toEqual([pool]);
    expect(await issuers.endpointsOf(pool)).toEqual([
      'https://pool.auth.example/authorize',
      'https://pool.auth.example/token',
    ]);
    expect(requests).toEqual([`login ${pool}/.well-known/openid-configuration`]);
  });

  test('nobody is asked whose places are known without it', () => {
    expect(issuersOf(undefined).issuers.list()).toEqual([]);
    expect(issuersOf(entra).issuers.list()).toEqual([]);
  });
});

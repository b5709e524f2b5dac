import type { Env } from '@behalf/contracts';
import type { OAuthServicesParts } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import { isMicrosoftAuthority } from '@behalf/settings';
import type { Configuration } from './configuration.ts';
import type { ReloadableNetwork } from './network.ts';

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint'] as const;

export interface IdentityIssuerParts {
  env: Env;
  configuration: Configuration;
  egress: Pick<ReloadableNetwork, 'identity' | 'identityTo'>;
  clock: Clock;
}

/**
 * The issuers of the login and of `identityProviders` whose endpoints stand nowhere but in their metadata. They may be on another
 * host than the issuer, and are guarded there. Entra goes by its hosts, whatever its metadata says.
 */
export function createIdentityIssuers(parts: IdentityIssuerParts): OAuthServicesParts['identity'] {
  const { env, configuration, egress, clock } = parts;
  const findProvider = (issuer: string) =>
    configuration.current().identityProviders.find((provider) => provider.issuer === issuer);
  return {
    list() {
      const login = env.OPENID_ISSUER === undefined ? [] : [env.OPENID_ISSUER];
      const fromProviders = configuration
        .current()
        .identityProviders.flatMap(({ issuer, tokenEndpoint }) =>
          issuer === undefined || tokenEndpoint !== undefined ? [] : [issuer],
        );
      return [...new Set([...login, ...fromProviders])].filter((issuer) => !isMicrosoftAuthority(issuer));
    },
    async endpointsOf(issuer) {
      const { createProviderMetadata } = await import('@behalf/gateway/openid');
      const fetch =
        issuer === env.OPENID_ISSUER
          ? egress.identity
          : egress.identityTo({ caFile: findProvider(issuer)?.caFile });
      const source = createProviderMetadata({ settings: { issuer }, fetch, clock, log: () => undefined });
      const { document } = await source.current();
      return ENDPOINTS.map((name) => document[name]).filter((url) => typeof url === 'string');
    },
  };
}

import type { Configuration } from 'oidc-provider';
import { createProviderConfiguration, type DevIdpConfigurationParts } from './providerConfiguration.ts';
import { toEntraClaims, findUser } from './users.ts';

/** A directory with addresses as Entra has them. */
export interface TenantAddresses {
  readonly tenant: string;
  /** `<origin>/<tenant>/v2.0`. */
  readonly issuer: string;
  /** `<origin>/<tenant>`: what Entra's libraries are told. */
  readonly authority: string;
  readonly tokenEndpoint: string;
}

export const TENANT_TOKEN_PATH = '/oauth2/v2.0/token';
const DISCOVERY_PATH = '/.well-known/openid-configuration';

export function createTenantAddresses(origin: string, tenant: string): TenantAddresses {
  if (!/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(tenant) || tenant === 'dev' || tenant === 'interaction') {
    throw new Error(`${JSON.stringify(tenant)} is not a valid tenant name.`);
  }
  const authority = `${origin}/${tenant}`;
  return { tenant, authority, issuer: `${authority}/v2.0`, tokenEndpoint: authority + TENANT_TOKEN_PATH };
}

/** Where the provider finds what a path below the tenant asks for. Undefined: it is not below this tenant. */
export function stripTenantPrefix(url: string, tenant: string): string | undefined {
  const prefix = `/${tenant}/`;
  if (!url.startsWith(prefix)) return undefined;
  const path = url.slice(prefix.length - 1);
  // The metadata stands below the issuer, everything else beside it.
  return path.startsWith(`/v2.0${DISCOVERY_PATH}`) ? path.slice('/v2.0'.length) : path;
}

export interface TenantParts extends DevIdpConfigurationParts {
  tenant: string;
}

/** The same login under a tenant's addresses, with access tokens as Entra writes them. */
export function createTenantConfiguration(parts: TenantParts): Configuration {
  const { users, tenant } = parts;
  const baseConfiguration = createProviderConfiguration(parts);
  return {
    ...baseConfiguration,
    routes: {
      authorization: '/oauth2/v2.0/authorize',
      token: TENANT_TOKEN_PATH,
      jwks: '/discovery/v2.0/keys',
      end_session: '/oauth2/v2.0/logout',
    },
    extraTokenClaims: async (ctx, token) => {
      const claims = await baseConfiguration.extraTokenClaims?.(ctx, token);
      const user = token.kind === 'AccessToken' ? findUser(users, token.accountId) : undefined;
      return { tid: tenant, ...claims, ver: '2.0', ...(user && toEntraClaims(user)) };
    },
    formats: {
      customizers: {
        async jwt(ctx, token, jwt) {
          await baseConfiguration.formats?.customizers?.jwt?.(ctx, token, jwt);
          const { payload } = jwt;
          if (payload.scope !== undefined) payload.scp = payload.scope;
          delete payload.scope;
        },
      },
    },
  };
}

import type { Configuration } from 'oidc-provider';
import { providerConfiguration, type ConfigurationParts } from './configuration.ts';
import { entraClaims, findUser } from './users.ts';

/** A directory with addresses as Entra has them. */
export interface TenantAddresses {
  readonly tenant: string;
  /** `<origin>/<tenant>/v2.0`. */
  readonly issuer: string;
  /** `<origin>/<tenant>`: what Entra's libraries are told. */
  readonly authority: string;
  readonly tokenEndpoint: string;
}

export const TOKEN_PATH = '/oauth2/v2.0/token';
const DISCOVERY = '/.well-known/openid-configuration';

export function tenantAddresses(origin: string, tenant: string): TenantAddresses {
  if (!/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(tenant) || tenant === 'dev' || tenant === 'interaction') {
    throw new Error(`${JSON.stringify(tenant)} is no name of a tenant.`);
  }
  const authority = `${origin}/${tenant}`;
  return { tenant, authority, issuer: `${authority}/v2.0`, tokenEndpoint: authority + TOKEN_PATH };
}

/** Where the provider finds what a path below the tenant asks for. Undefined: it is not below this tenant. */
export function pathInTenant(url: string, tenant: string): string | undefined {
  const prefix = `/${tenant}/`;
  if (!url.startsWith(prefix)) return undefined;
  const path = url.slice(prefix.length - 1);
  // The metadata stands below the issuer, everything else beside it.
  return path.startsWith(`/v2.0${DISCOVERY}`) ? path.slice('/v2.0'.length) : path;
}

export interface TenantParts extends ConfigurationParts {
  tenant: string;
}

/** The same login under a tenant's addresses, with access tokens as Entra writes them. */
export function tenantConfiguration(parts: TenantParts): Configuration {
  const { users, tenant } = parts;
  const plain = providerConfiguration(parts);
  return {
    ...plain,
    routes: {
      authorization: '/oauth2/v2.0/authorize',
      token: TOKEN_PATH,
      jwks: '/discovery/v2.0/keys',
      end_session: '/oauth2/v2.0/logout',
    },
    extraTokenClaims: async (ctx, token) => {
      const claims = await plain.extraTokenClaims?.(ctx, token);
      const user = token.kind === 'AccessToken' ? findUser(users, token.accountId) : undefined;
      return { tid: tenant, ...claims, ver: '2.0', ...(user && entraClaims(user)) };
    },
    formats: {
      customizers: {
        async jwt(ctx, token, jwt) {
          await plain.formats?.customizers?.jwt?.(ctx, token, jwt);
          const { payload } = jwt;
          if (payload.scope !== undefined) payload.scp = payload.scope;
          delete payload.scope;
        },
      },
    },
  };
}

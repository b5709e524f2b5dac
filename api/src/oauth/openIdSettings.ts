import type { Env } from '@behalf/contracts';
import type { OpenIdSettings } from '@behalf/gateway';

/** The identity provider as the environment describes it; null when there is none. */
export function openIdSettings(env: Env): OpenIdSettings | null {
  if (env.OPENID_ISSUER === undefined) return null;
  const roleClaim = env.OPENID_ROLE_CLAIM;
  return {
    issuer: env.OPENID_ISSUER,
    clientId: env.OPENID_CLIENT_ID ?? null,
    clientSecret: env.OPENID_CLIENT_SECRET ?? null,
    audience: env.OPENID_AUDIENCE ?? null,
    scope: env.OPENID_SCOPE,
    callbackUrl: env.OPENID_CALLBACK_URL,
    roleClaim,
    groupsClaim: env.OPENID_GROUPS_CLAIM ?? null,
    tenantClaim: env.OPENID_TENANT_CLAIM ?? null,
    adminRole:
      env.OPENID_ADMIN_ROLE === undefined
        ? null
        : {
            // One value: the name of a role may hold a comma.
            values: [env.OPENID_ADMIN_ROLE],
            claim: env.OPENID_ADMIN_ROLE_PARAMETER_PATH ?? roleClaim,
            from: env.OPENID_ADMIN_ROLE_TOKEN_KIND,
          },
    requiredRole:
      env.OPENID_REQUIRED_ROLE === undefined
        ? null
        : {
            values: splitList(env.OPENID_REQUIRED_ROLE),
            claim: env.OPENID_REQUIRED_ROLE_PARAMETER_PATH ?? roleClaim,
            from: env.OPENID_REQUIRED_ROLE_TOKEN_KIND,
          },
    allowedTenants: env.OPENID_ALLOWED_TENANTS === undefined ? null : splitList(env.OPENID_ALLOWED_TENANTS),
    allowedClients: env.OPENID_ALLOWED_CLIENTS === undefined ? null : splitList(env.OPENID_ALLOWED_CLIENTS),
    introspection: env.OPENID_INTROSPECTION === true,
  };
}

/** Where the provider sends browsers back to. Its path is the route; neither query nor fragment belongs to it. */
export function openIdCallback({ callbackUrl }: Pick<OpenIdSettings, 'callbackUrl'>, baseUrl: string): URL {
  const url = new URL(callbackUrl, baseUrl);
  url.search = '';
  url.hash = '';
  return url;
}

/** A list that is set and names nobody lets nobody in. */
function splitList(text: string): string[] {
  return text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

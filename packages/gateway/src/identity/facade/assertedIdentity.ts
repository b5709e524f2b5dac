import type { Log } from '../../upstream/parts.ts';
import { claimAt, type Claims } from '../openid/claims.ts';
import type { OpenIdSettings } from '../openid/openIdSettings.ts';
import { TokenRefused } from '../openid/tokenRefused.ts';
import { verifiedIdentity, type IdentityParts, type VerifiedToken } from '../openid/verifiedIdentity.ts';

export interface AssertedParts {
  readonly claims: IdentityParts['claims'];
  /** How claims of the login's issuer are read. */
  readonly settings: OpenIdSettings;
  /** Of any other issuer: whose users it may speak of, by the word of the operator. Null: it is the login's. */
  readonly tenant: string | null;
  readonly log: Log;
}

/** Who somebody is by the word of an issuer, without a sign-in. Throws TokenRefused when it may not say so. */
export function assertedIdentity({ claims, settings, tenant, log }: AssertedParts): VerifiedToken {
  const read = (by: OpenIdSettings) => {
    const sources = { access: claims, id: claims, userinfo: claims };
    return verifiedIdentity({ kind: 'user', claims, sources, settings: by, log });
  };
  if (tenant === null) {
    const verified = read(settings);
    // Most say nothing of roles: silence is no younger word than that of the sign-in.
    return saysRole(claims, settings) ? verified : { ...verified, issuedAt: 0 };
  }
  // Which claims decide over roles, groups and tenants was agreed with the login's issuer alone: from another they would be its own choice,
  // among everybody else's users. Who names a tenant means to choose it, and is not just left unread.
  const { tenantClaim, allowedTenants } = settings;
  if (tenantClaim !== null && claimAt(claims, tenantClaim) !== undefined) throw new TokenRefused('tenant');
  const verified = read({
    ...settings,
    ...{ tenantClaim: null, adminRole: null, groupsClaim: null },
    // Customers of one provider: another may have none.
    allowedTenants: claims['tid'] === undefined ? null : allowedTenants,
  });
  return { ...verified, tenant, roles: [], namesAdmin: false, issuedAt: 0 };
}

/** Whether everything is there that a role follows from: by half of it, somebody would be less than they are. */
function saysRole(claims: Claims, { roleClaim, adminRole }: OpenIdSettings): boolean {
  const names = adminRole === null ? [roleClaim] : [roleClaim, adminRole.claim];
  return names.every((name) => (claimAt(claims, name) ?? null) !== null);
}

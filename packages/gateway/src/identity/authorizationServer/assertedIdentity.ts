import type { Log } from '../../upstream/parts.ts';
import { readClaim, type Claims } from '../openid/claims.ts';
import type { OpenIdSettings } from '../openid/openIdSettings.ts';
import { TokenRefused } from '../openid/tokenRefused.ts';
import {
  readVerifiedIdentity,
  type VerifiedIdentityParts,
  type VerifiedToken,
} from '../openid/verifiedIdentity.ts';

export interface AssertedIdentityParts {
  readonly claims: VerifiedIdentityParts['claims'];
  /** How claims of the login's issuer are read. */
  readonly settings: OpenIdSettings;
  /** Of any other issuer: whose users it may speak of, by the word of the operator. Null: it is the login's. */
  readonly tenant: string | null;
  readonly log: Log;
}

/** Who somebody is by the word of an issuer, without a sign-in. Throws TokenRefused when it may not say so. */
export function readAssertedIdentity({
  claims,
  settings,
  tenant,
  log,
}: AssertedIdentityParts): VerifiedToken {
  const readIdentity = (openIdSettings: OpenIdSettings) => {
    const sources = { access: claims, id: claims, userinfo: claims };
    return readVerifiedIdentity({ kind: 'user', claims, sources, settings: openIdSettings, log });
  };
  if (tenant === null) {
    const verified = readIdentity(settings);
    // Most say nothing of roles: silence is no younger word than that of the sign-in.
    return hasRoleClaims(claims, settings) ? verified : { ...verified, issuedAt: 0 };
  }
  // Which claims decide over roles, groups and tenants was agreed with the login's issuer alone: from another they would be its own choice,
  // among everybody else's users. Who names a tenant means to choose it, and is not just left unread.
  const { tenantClaim, allowedTenants } = settings;
  if (tenantClaim !== null && readClaim(claims, tenantClaim) !== undefined) throw new TokenRefused('tenant');
  const verified = readIdentity({
    ...settings,
    ...{ tenantClaim: null, adminRole: null, groupsClaim: null },
    // Customers of one provider: another may have none.
    allowedTenants: claims['tid'] === undefined ? null : allowedTenants,
  });
  return { ...verified, tenant, roles: [], hasAdminRole: false, issuedAt: 0 };
}

/** Whether everything is there that a role follows from: by half of it, somebody would be less than they are. */
function hasRoleClaims(claims: Claims, { roleClaim, adminRole }: OpenIdSettings): boolean {
  const names = adminRole === null ? [roleClaim] : [roleClaim, adminRole.claim];
  return names.every((name) => (readClaim(claims, name) ?? null) !== null);
}

import type { Log } from '../../upstream/parts.ts';
import { DEFAULT_TENANT } from '../accounts.ts';
import { clientOf } from './accessToken.ts';
import { readClaim, readTextClaim, readTextClaims, type Claims } from './claims.ts';
import type { ClaimRule, ClaimSource, OpenIdSettings } from './openIdSettings.ts';
import { TokenRefused } from './tokenRefused.ts';

/** Who the identity provider says is there. */
export interface VerifiedToken {
  readonly kind: 'user' | 'service';
  readonly issuer: string;
  readonly subject: string;
  readonly tenant: string;
  readonly email: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  /** Whether it makes an administrator: by OPENID_ADMIN_ROLE where that is set, else by the plain word. Never a service. */
  readonly hasAdminRole: boolean;
  /** False when OPENID_REQUIRED_ROLE is set and missing. */
  readonly isAdmitted: boolean;
  /** Of two tokens the younger one is believed. Zero when it does not say: then any other is younger. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly clientId: string;
}

export interface VerifiedIdentityParts {
  readonly kind: 'user' | 'service';
  readonly claims: Claims & { readonly sub: string; readonly exp: number };
  /** Where the rules look. */
  readonly sources: Readonly<Record<ClaimSource, Claims>>;
  readonly settings: OpenIdSettings;
  readonly log: Log;
}

const MAX_EMAIL_LENGTH = 254;
const TENANT = /^[\p{L}\p{N}]\P{C}{0,127}$/u;

/** What checked claims say. Throws TokenRefused when their tenant may not come in. */
export function readVerifiedIdentity({
  kind,
  claims,
  sources,
  settings,
  log,
}: VerifiedIdentityParts): VerifiedToken {
  const { sub: subject, exp } = claims;
  requireAllowedTenant(claims, settings);
  const matchesRule = ({ values, claim, from }: ClaimRule) =>
    readTextClaims(sources[from], claim)?.some((value) => values.includes(value)) ?? false;
  const email = emailOf(claims);
  const roles = readList(claims, settings.roleClaim, log);
  // Who names a role for administrators means that one: the plain word may be somebody else's in the same claim.
  const hasAdminRole =
    settings.adminRole === null ? roles.includes('ADMIN') : matchesRule(settings.adminRole);
  return {
    kind,
    issuer: settings.issuer,
    subject,
    tenant: tenantOf(claims, settings),
    email,
    name: nameOf(claims) || email,
    roles,
    groups: settings.groupsClaim === null ? [] : readList(claims, settings.groupsClaim, log),
    hasAdminRole: kind === 'user' && hasAdminRole,
    isAdmitted: settings.requiredRole === null || matchesRule(settings.requiredRole),
    issuedAt: typeof claims.iat === 'number' ? Math.max(0, Math.floor(claims.iat * 1_000)) : 0,
    expiresAt: exp * 1_000,
    clientId: clientOf(claims),
  };
}

/** `tid`: which customer of a provider with many. */
function requireAllowedTenant(claims: Claims, { allowedTenants }: OpenIdSettings): void {
  if (allowedTenants === null) return;
  if (!allowedTenants.some((tenant) => tenant === claims.tid)) throw new TokenRefused('tenant');
}

function tenantOf(claims: Claims, { tenantClaim }: OpenIdSettings): string {
  if (tenantClaim === null) return DEFAULT_TENANT;
  const tenant = readClaim(claims, tenantClaim);
  // Without one they would end up among others' servers and users.
  if (typeof tenant !== 'string' || !TENANT.test(tenant)) throw new TokenRefused('tenant');
  // The operator's own, and that of local accounts: no customer of the provider may name itself into it.
  if (tenant === DEFAULT_TENANT) throw new TokenRefused('tenant');
  return tenant;
}

/**
 * Only to show and to fill in, never to recognise anybody. One the provider itself doubts is none, and a name to sign
 * in with is none either: people may choose it, and it may look like somebody else's address.
 */
function emailOf(claims: Claims): string {
  const { email_verified: verified = true } = claims;
  if (verified !== true && verified !== 'true') return '';
  const email = readTextClaim(claims, 'email', MAX_EMAIL_LENGTH);
  return /^[^@\s]+@[^@\s]+$/.test(email) ? email : '';
}

function nameOf(claims: Claims): string {
  return (
    readTextClaim(claims, 'name') ||
    readTextClaim(claims, 'preferred_username') ||
    readTextClaim(claims, 'upn')
  );
}

/** A provider that leaves a long list out says where to ask for it. Part of a list would be a guess: none of it counts. */
function readList(claims: Claims, claim: string, log: Log): readonly string[] {
  const claimNames = readClaim(claims, '_claim_names');
  const isDistributed =
    typeof claimNames === 'object' && claimNames !== null && Object.hasOwn(claimNames, claim);
  const isOmitted = claim === 'groups' && (claims.hasgroups === true || claims.hasgroups === 'true');
  const list = isDistributed || isOmitted ? null : readTextClaims(claims, claim);
  if (list === null) log('openid_claim_overage', { claim });
  return list ?? [];
}

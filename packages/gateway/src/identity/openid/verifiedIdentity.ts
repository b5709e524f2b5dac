import { isObject } from '@behalf/kernel';
import { DEFAULT_TENANT } from '../../principal/principal.ts';
import type { Log } from '../../upstream/upstream.ts';
import type { ClaimRule, ClaimSource, OpenIdSettings } from './provider.ts';
import { type Claims, TokenRefused, readClaim, readTextClaim, readTextClaims } from './verifyJwt.ts';

/** The identity in a verified token. */
export interface VerifiedToken {
  readonly kind: 'user' | 'service';
  readonly issuer: string;
  readonly subject: string;
  readonly tenant: string;
  readonly email: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  /** Whether the token names the administrator role: OPENID_ADMIN_ROLE, or `ADMIN` if that is not set. Never for a service. */
  readonly hasAdminRole: boolean;
  /** False if OPENID_REQUIRED_ROLE is set and the token does not have that role. */
  readonly isAdmitted: boolean;
  /** The newer of two tokens determines the role. Zero if the token has no `iat`: every other token is newer. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly clientId: string;
}

export interface VerifiedIdentityParts {
  readonly kind: 'user' | 'service';
  readonly claims: Claims & { readonly sub: string; readonly exp: number };
  /** The claims in which the claim rules are evaluated. */
  readonly sources: Readonly<Record<ClaimSource, Claims>>;
  readonly settings: OpenIdSettings;
  readonly log: Log;
}

const MAX_EMAIL_LENGTH = 254;
const TENANT = /^[\p{L}\p{N}]\P{C}{0,127}$/u;

/** Reads the identity from verified claims. Throws TokenRefused if the tenant is not allowed. */
export function readVerifiedIdentity(parts: VerifiedIdentityParts): VerifiedToken {
  const { kind, claims, sources, settings, log } = parts;
  const { sub: subject, exp } = claims;
  requireAllowedTenant(claims, settings);
  const matchesRule = ({ values, claim, from }: ClaimRule) =>
    readTextClaims(sources[from], claim)?.some((value) => values.includes(value)) ?? false;
  const email = emailOf(claims);
  const roles = readList(claims, settings.roleClaim, log);
  // With a configured administrator role, `ADMIN` has no meaning: another application may use that value in the same claim.
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

/** `tid` is the customer of a multi-tenant provider. */
function requireAllowedTenant(claims: Claims, { allowedTenants }: OpenIdSettings): void {
  if (allowedTenants === null) return;
  if (!allowedTenants.some((tenant) => tenant === claims.tid)) throw new TokenRefused('tenant');
}

function tenantOf(claims: Claims, { tenantClaim }: OpenIdSettings): string {
  if (tenantClaim === null) return DEFAULT_TENANT;
  const tenant = readClaim(claims, tenantClaim);
  // A default for a missing claim would put the user into another customer's tenant.
  if (typeof tenant !== 'string' || !TENANT.test(tenant)) throw new TokenRefused('tenant');
  // The default tenant belongs to the operator and to local accounts. A customer of the provider must not enter it.
  if (tenant === DEFAULT_TENANT) throw new TokenRefused('tenant');
  return tenant;
}

/**
 * For display and for user placeholders only; it never identifies an account. An unverified address is ignored. So is
 * `preferred_username`, because users can choose one that looks like another user's address.
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

/**
 * Reads a list claim. A provider replaces a long list by a reference (distributed claims, OpenID Connect Core section 5.6.2;
 * Entra `hasgroups`). Behalf does not follow the reference and reads no partial list: the result is empty.
 */
function readList(claims: Claims, claim: string, log: Log): readonly string[] {
  const claimNames = readClaim(claims, '_claim_names');
  const isDistributed = isObject(claimNames) && Object.hasOwn(claimNames, claim);
  const isOmitted = claim === 'groups' && (claims.hasgroups === true || claims.hasgroups === 'true');
  const list = isDistributed || isOmitted ? null : readTextClaims(claims, claim);
  if (list === null) log('openid_claim_overage', { claim });
  return list ?? [];
}

/** Whether the tenant has a role with this name. */
export type RoleExists = (tenant: string, name: string) => boolean | Promise<boolean>;

/**
 * The role that a token grants. Only a user can become ADMIN; a service without a known role has none. Among several roles,
 * the first by name wins, because the order in a token has no meaning.
 */
export async function roleFromToken(verified: VerifiedToken, roleExists: RoleExists): Promise<string> {
  const { kind, tenant, roles, hasAdminRole } = verified;
  const isUser = kind === 'user';
  if (isUser && hasAdminRole) return 'ADMIN';
  for (const name of [...roles].sort()) {
    // A custom role takes precedence over USER.
    if (name !== 'ADMIN' && name !== 'USER' && (await roleExists(tenant, name))) return name;
  }
  return isUser || roles.includes('USER') ? 'USER' : '';
}

/** RFC 9068, section 2.1. */
const ACCESS_TYPES = ['at+jwt', 'application/at+jwt'];
/** A token of another type, such as a logout token, is refused (RFC 8725, section 3.11). */
const TYPES = [...ACCESS_TYPES, 'jwt'];
/** Claims of an ID token only. An ID token proves a login to one client; it is not an access token. */
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash'];
const CLIENT_CLAIMS = ['azp', 'appid', 'client_id', 'cid'];
/** Claims that only a signed-in user has. */
const LOGIN_CLAIMS = ['email', 'name', 'given_name', 'family_name', 'auth_time'];
const USER_CLAIMS = [...LOGIN_CLAIMS, 'preferred_username', 'upn'];

/** The client to which the token was issued; empty if the token does not name one. */
export function clientOf(claims: Claims): string {
  return clientsOf(claims)[0] ?? '';
}

/** Whether the token belongs to a user or a service. Throws TokenRefused if it is not an access token. */
export function accessTokenKind(
  { typ }: Readonly<Record<string, unknown>>,
  claims: Claims,
): 'user' | 'service' {
  const type = typ === undefined ? 'jwt' : typeof typ === 'string' ? typ.toLowerCase() : '';
  if (!TYPES.includes(type)) throw new TokenRefused('type');
  if (ID_TOKEN_CLAIMS.some((name) => name in claims)) throw new TokenRefused('id_token');
  // Sender-constrained (RFC 9449, RFC 8705): without the client's proof, the caller may have stolen it.
  if ('cnf' in claims) throw new TokenRefused('key_bound');
  const service = isService(claims);
  if (!ACCESS_TYPES.includes(type) && !hasScope(claims) && !(service && isServiceOnly(claims))) {
    throw new TokenRefused('not_access_token');
  }
  return service ? 'service' : 'user';
}

/** Whether the token was issued without a user. Each provider has its own indication; the default is a user. */
function isService(claims: Claims): boolean {
  const { sub, idtyp, gty } = claims;
  // Entra, if the optional claim is enabled.
  if (idtyp === 'app') return true;
  if (idtyp === 'user') return false;
  // Auth0.
  if (gty === 'client-credentials') return true;
  const clients = clientsOf(claims);
  // RFC 9068, section 2.2: the subject of a client-credentials token is the client.
  if (clients.some((client) => sub === client || sub === `${client}@clients`)) return true;
  if (isServiceAccount(claims)) return true;
  // Entra: the subject of a user differs from the object id.
  return !hasScope(claims) && claims.roles !== undefined && claims.oid !== undefined && claims.oid === sub;
}

/** Keycloak indicates a service account by its username only. Users can choose such a name, so login claims take precedence. */
function isServiceAccount(claims: Claims): boolean {
  const { client_id: client, preferred_username: name } = claims;
  if (typeof client !== 'string' || name !== `service-account-${client}`) return false;
  return !LOGIN_CLAIMS.some((claim) => claim in claims);
}

/** Without claims of a user, the token cannot be an ID token. */
function isServiceOnly(claims: Claims): boolean {
  return clientsOf(claims).length > 0 && !USER_CLAIMS.some((name) => name in claims);
}

function hasScope({ scp, scope }: Claims): boolean {
  return [scp, scope].some((value) =>
    Array.isArray(value) ? value.length > 0 : typeof value === 'string' && value !== '',
  );
}

/** The scopes: a space-separated string (RFC 9068, Entra) or a list (Okta). */
export function scopesOf({ scp, scope }: Claims): string[] {
  const scopeTexts = [scp, scope].flat().filter((value) => typeof value === 'string');
  return scopeTexts.flatMap((value) => value.split(' ')).filter((name) => name !== '');
}

function clientsOf(claims: Claims): string[] {
  return CLIENT_CLAIMS.flatMap((name) => {
    const value = claims[name];
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
}

import type { Log } from '../../upstream/upstream.ts';
import { DEFAULT_TENANT } from '../accounts.ts';
import type { ClaimRule, ClaimSource, OpenIdSettings } from './provider.ts';
import { type Claims, TokenRefused, readClaim, readTextClaim, readTextClaims } from './verifyJwt.ts';

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

/** Whether a tenant has a role of this name. */
export type RoleExists = (tenant: string, name: string) => boolean | Promise<boolean>;

/**
 * The role a token names. The issuer may make a user ADMIN; a program never, and one without a known role has none. Of
 * several, the first by name: the order in a token says nothing.
 */
export async function roleFromToken(verified: VerifiedToken, roleExists: RoleExists): Promise<string> {
  const { kind, tenant, roles, hasAdminRole } = verified;
  const isUser = kind === 'user';
  if (isUser && hasAdminRole) return 'ADMIN';
  for (const name of [...roles].sort()) {
    // What everybody is does not hide what somebody is besides.
    if (name !== 'ADMIN' && name !== 'USER' && (await roleExists(tenant, name))) return name;
  }
  return isUser || roles.includes('USER') ? 'USER' : '';
}

/** RFC 9068, section 2.1. */
const ACCESS_TYPES = ['at+jwt', 'application/at+jwt'];
/** A token that says it is something else, such as a logout token, is that (RFC 8725, section 3.11). */
const TYPES = [...ACCESS_TYPES, 'jwt'];
/** What only an ID token holds: it proves a login to one client, and was never meant to open a door. */
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash'];
const CLIENT_CLAIMS = ['azp', 'appid', 'client_id', 'cid'];
/** What only somebody who signed in has. */
const LOGIN_CLAIMS = ['email', 'name', 'given_name', 'family_name', 'auth_time'];
const USER_CLAIMS = [...LOGIN_CLAIMS, 'preferred_username', 'upn'];

/** To which client the token was given; empty when it does not say. */
export function clientOf(claims: Claims): string {
  return clientsOf(claims)[0] ?? '';
}

/** Whether a user or a program calls. Throws TokenRefused for whatever is not an access token. */
export function accessTokenKind(
  { typ }: Readonly<Record<string, unknown>>,
  claims: Claims,
): 'user' | 'service' {
  const type = typ === undefined ? 'jwt' : typeof typ === 'string' ? typ.toLowerCase() : '';
  if (!TYPES.includes(type)) throw new TokenRefused('type');
  if (ID_TOKEN_CLAIMS.some((name) => name in claims)) throw new TokenRefused('id_token');
  // Bound to a key of the client (RFC 9449, RFC 8705): whoever shows it alone may have stolen it.
  if ('cnf' in claims) throw new TokenRefused('key_bound');
  const service = isService(claims);
  if (!ACCESS_TYPES.includes(type) && !hasScope(claims) && !(service && isServiceOnly(claims))) {
    throw new TokenRefused('not_access_token');
  }
  return service ? 'service' : 'user';
}

/** No resource owner was involved. Each provider says it in its own way; in doubt it is a user. */
function isService(claims: Claims): boolean {
  const { sub, idtyp, gty } = claims;
  // Entra says it itself where the optional claim is on.
  if (idtyp === 'app') return true;
  if (idtyp === 'user') return false;
  // Auth0.
  if (gty === 'client-credentials') return true;
  const clients = clientsOf(claims);
  // RFC 9068, section 2.2: of client credentials the subject is the client.
  if (clients.some((client) => sub === client || sub === `${client}@clients`)) return true;
  if (isServiceAccount(claims)) return true;
  // Entra: for users the subject differs from the object id.
  return !hasScope(claims) && claims.roles !== undefined && claims.oid !== undefined && claims.oid === sub;
}

/** Keycloak says it by a name alone. Users may choose one like it, so whatever else tells of a person counts more. */
function isServiceAccount(claims: Claims): boolean {
  const { client_id: client, preferred_username: name } = claims;
  if (typeof client !== 'string' || name !== `service-account-${client}`) return false;
  return !LOGIN_CLAIMS.some((claim) => claim in claims);
}

/** Nothing in it could have come from a login: it cannot be the ID token of somebody. */
function isServiceOnly(claims: Claims): boolean {
  return clientsOf(claims).length > 0 && !USER_CLAIMS.some((name) => name in claims);
}

function hasScope({ scp, scope }: Claims): boolean {
  return [scp, scope].some((value) =>
    Array.isArray(value) ? value.length > 0 : typeof value === 'string' && value !== '',
  );
}

/** What was delegated: words in one text (RFC 9068; Entra), or a list of them (Okta). */
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

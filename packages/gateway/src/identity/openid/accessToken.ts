import type { Claims } from './claims.ts';
import { TokenRefused } from './tokenRefused.ts';

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

import type { Challenge } from '../../upstream/upstreamError.ts';

/** More than any honest provider asks for, and it travels in an address. */
const MAX_BYTES = 4_096;
/** A server has less to say. */
const MAX_SERVER_BYTES = 2_048;

/**
 * The claims that a server asks for (`error="insufficient_claims"`, base64 or base64url of a JSON object). Whoever runs
 * the server wrote it, and it becomes part of the user's next sign-in: only what it wants of the access token is passed
 * on. With the rest it could have the provider tell more of the user, or sign them in in another way.
 */
export function readChallengeClaims(challenge: Challenge | undefined): string | undefined {
  if (challenge?.error !== 'insufficient_claims' || challenge.claims === undefined) return undefined;
  if (challenge.claims.length > MAX_BYTES) return undefined;
  const accessTokenClaims = parseClaims(Buffer.from(challenge.claims, 'base64').toString('utf8'))?.[
    'access_token'
  ];
  return isObject(accessTokenClaims)
    ? serializeClaims({ access_token: accessTokenClaims }, MAX_SERVER_BYTES)
    : undefined;
}

/** Claims as the identity provider asks for them: a JSON object of some size, or nothing. */
export function normalizeClaims(text: string): string | undefined {
  const claims = parseClaims(text);
  return claims && serializeClaims(claims, MAX_BYTES);
}

function parseClaims(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.length > MAX_BYTES) return undefined;
  try {
    const claims: unknown = JSON.parse(text);
    return isObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** One spelling for what means the same: it is part of a key. */
function serializeClaims(claims: Readonly<Record<string, unknown>>, maxBytes: number): string | undefined {
  const text = JSON.stringify(sortKeys(claims));
  return Buffer.byteLength(text) > maxBytes ? undefined : text;
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sortKeys(member)]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

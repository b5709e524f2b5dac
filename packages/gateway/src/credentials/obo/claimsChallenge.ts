import type { Challenge } from '../../upstream/upstreamError.ts';

/** More than any honest provider asks for, and it travels in an address. */
const MOST_BYTES = 4_096;
/** A server has less to say. */
const MOST_BYTES_OF_SERVER = 2_048;

/**
 * The claims that a server asks for (`error="insufficient_claims"`, base64 or base64url of a JSON object). Whoever runs
 * the server wrote it, and it becomes part of the user's next sign-in: only what it wants of the access token is passed
 * on. With the rest it could have the provider tell more of the user, or sign them in in another way.
 */
export function claimsOf(challenge: Challenge | undefined): string | undefined {
  if (challenge?.error !== 'insufficient_claims' || challenge.claims === undefined) return undefined;
  if (challenge.claims.length > MOST_BYTES) return undefined;
  const wanted = readClaims(Buffer.from(challenge.claims, 'base64').toString('utf8'))?.['access_token'];
  return isObject(wanted) ? written({ access_token: wanted }, MOST_BYTES_OF_SERVER) : undefined;
}

/** Claims as the identity provider asks for them: a JSON object of some size, or nothing. */
export function claimsText(text: string): string | undefined {
  const claims = readClaims(text);
  return claims && written(claims, MOST_BYTES);
}

function readClaims(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.length > MOST_BYTES) return undefined;
  try {
    const claims: unknown = JSON.parse(text);
    return isObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** One spelling for what means the same: it is part of a key. */
function written(claims: Readonly<Record<string, unknown>>, mostBytes: number): string | undefined {
  const text = JSON.stringify(sorted(claims));
  return Buffer.byteLength(text) > mostBytes ? undefined : text;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

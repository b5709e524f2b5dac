import { isObject } from '@behalf/kernel';
import type { Challenge } from '../../upstream/upstreamError.ts';
import { parseJsonObject } from './tokenRequest.ts';

/** Limit for claims from the identity provider. They are sent in the URL of the authorization request. */
const MAX_BYTES = 4_096;
/** Limit for claims from an MCP server. */
const MAX_SERVER_BYTES = 2_048;

/**
 * The claims of a challenge (`error="insufficient_claims"`, base64 or base64url of a JSON object). The author of the MCP server controls
 * them, and they become part of the user's next sign-in. Only the `access_token` member is used: other members could make the provider
 * disclose more about the user or change how the user signs in.
 */
export function readChallengeClaims(challenge: Challenge | undefined): string | undefined {
  if (challenge?.error !== 'insufficient_claims' || challenge.claims === undefined) return undefined;
  if (challenge.claims.length > MAX_BYTES) return undefined;
  const claims = parseJsonObject(Buffer.from(challenge.claims, 'base64').toString('utf8'));
  const accessTokenClaims = claims?.['access_token'];
  return isObject(accessTokenClaims)
    ? serializeClaims({ access_token: accessTokenClaims }, MAX_SERVER_BYTES)
    : undefined;
}

/** Claims from the identity provider in canonical form. Undefined if they are not a JSON object or are too long. */
export function normalizeClaims(text: string): string | undefined {
  const claims = text.length > MAX_BYTES ? undefined : parseJsonObject(text);
  return claims && serializeClaims(claims, MAX_BYTES);
}

/** Canonical JSON, because claims are part of a cache key. */
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

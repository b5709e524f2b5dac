import type { Clock } from '@behalf/kernel';
import { canonicalizeUrl } from '../../oauth/canonicalUrl.ts';
import { ExchangeFault } from '../exchangeFault.ts';
import { toResponseFault } from './responseFault.ts';
import { parseJsonObject, type ProviderResponse } from './providerRequest.ts';

export const ID_JAG_TYPE = 'urn:ietf:params:oauth:token-type:id-jag';
const JWT_TYPE = 'oauth-id-jag+jwt';
const JWT_PATTERN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const MAX_LENGTH = 32 * 1_024;
/** Clocks differ by no more. */
const TOLERANCE_S = 5;

export interface ExpectedIdJag {
  readonly clock: Clock;
  /** Of the identity provider; undefined where only its endpoint is known. */
  readonly issuer: string | undefined;
  /** The resource's authorization server. */
  readonly audience: string;
  /** Ours there. */
  readonly clientId: string;
  readonly resource: string;
}

export interface IdJag {
  readonly text: string;
  readonly jti: string;
}

/**
 * The assertion in an answer, or an ExchangeFault. It came from the provider itself, so its signature is left to who is meant by it; for
 * whom, for what and for how long it speaks is looked at here: one that was meant for somebody else goes nowhere.
 */
export function readIdJagResponse(response: ProviderResponse, expected: ExpectedIdJag): IdJag {
  const { clock } = expected;
  const body = parseJsonObject(response.text);
  const { status } = response;
  if (status < 200 || status > 299 || body?.['error'] !== undefined) {
    throw toResponseFault(response, body, clock, 'token-exchange');
  }
  const refuse = (hint: string) => new ExchangeFault('OBO_EMPTY_RESPONSE', { status, hint });
  if (status !== 200 || !body) throw refuse('The token endpoint did not respond with JSON.');
  const { access_token: text, token_type: type, issued_token_type: issued } = body;
  if (typeof text !== 'string' || text.length > MAX_LENGTH || !JWT_PATTERN.test(text)) {
    throw refuse('The response does not contain an assertion.');
  }
  // What is no access token must say so: else something else was issued (draft, section 4.3.3; RFC 8693, section 2.2.1).
  if (issued !== ID_JAG_TYPE || typeof type !== 'string' || type.toUpperCase() !== 'N_A') {
    throw refuse('The issued token is not an ID-JAG: the provider may not offer it to this client.');
  }
  const [header, claims] = text
    .split('.')
    .map((part) => parseJsonObject(Buffer.from(part, 'base64url').toString()));
  const problem = findProblem(header, claims, expected);
  if (problem !== undefined) throw refuse(`The assertion does not match the request: ${problem}.`);
  return { text, jti: String(claims?.['jti']) };
}

type Claims = Readonly<Record<string, unknown>> | undefined;

/** What is wrong with it, in words of our own. */
function findProblem(header: Claims, claims: Claims, expected: ExpectedIdJag): string | undefined {
  if (!header || !claims) return 'it cannot be read';
  const { typ, alg } = header;
  if (typeof typ !== 'string' || typ.toLowerCase() !== JWT_TYPE) return `its typ is not ${JWT_TYPE}`;
  if (typeof alg !== 'string' || alg.toLowerCase() === 'none') return 'it is not signed';
  const { iss, sub, aud, client_id: clientId, resource, exp, jti } = claims;
  if (expected.issuer !== undefined && iss !== expected.issuer) return 'its iss is another issuer';
  if (singleText(aud) !== expected.audience) return 'its aud is not the authorization server';
  if (clientId !== expected.clientId)
    return 'its client_id is not the client configured for the authorization server';
  const expectedResource = canonicalizeUrl(expected.resource) ?? expected.resource;
  const claimedResource = singleText(resource);
  if (
    claimedResource === undefined ||
    (canonicalizeUrl(claimedResource) ?? claimedResource) !== expectedResource
  )
    return 'its resource is not the MCP server';
  if (typeof sub !== 'string' || sub === '') return 'its sub is missing';
  if (typeof jti !== 'string' || jti === '') return 'it has no jti';
  const now = expected.clock.now() / 1_000;
  if (typeof exp !== 'number' || exp <= now - TOLERANCE_S) return 'it has expired';
  return undefined;
}

/** One alone: with a second, somebody else could use it too. */
function singleText(value: unknown): string | undefined {
  const [first, ...others] = Array.isArray(value) ? (value as unknown[]) : [value];
  return others.length === 0 && typeof first === 'string' ? first : undefined;
}

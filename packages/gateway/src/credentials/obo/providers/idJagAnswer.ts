import type { Clock } from '@behalf/kernel';
import { canonicalizeUrl } from '../../oauth/canonicalUrl.ts';
import { ExchangeFault } from '../exchangeFault.ts';
import { answerFault } from './answerFault.ts';
import { readObject, type Answer } from './ask.ts';

export const ID_JAG_TYPE = 'urn:ietf:params:oauth:token-type:id-jag';
const JWT_TYPE = 'oauth-id-jag+jwt';
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const LONGEST = 32 * 1_024;
/** Clocks differ by no more. */
const TOLERANCE_S = 5;

export interface IdJagExpected {
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
export function readIdJag(answer: Answer, expected: IdJagExpected): IdJag {
  const { clock } = expected;
  const body = readObject(answer.text);
  const { status } = answer;
  if (status < 200 || status > 299 || body?.['error'] !== undefined) {
    throw answerFault(answer, body, clock, 'token-exchange');
  }
  const refuse = (hint: string) => new ExchangeFault('OBO_EMPTY_RESPONSE', { status, hint });
  if (status !== 200 || !body) throw refuse('The token endpoint did not answer with JSON.');
  const { access_token: text, token_type: type, issued_token_type: issued } = body;
  if (typeof text !== 'string' || text.length > LONGEST || !JWT.test(text)) {
    throw refuse('The answer holds no assertion.');
  }
  // What is no access token must say so: else something else was issued (draft, section 4.3.3; RFC 8693, section 2.2.1).
  if (issued !== ID_JAG_TYPE || typeof type !== 'string' || type.toUpperCase() !== 'N_A') {
    throw refuse('The issued token is no identity assertion: the provider may not offer it to this client.');
  }
  const [header, claims] = text
    .split('.')
    .map((part) => readObject(Buffer.from(part, 'base64url').toString()));
  const wrong = problemOf(header, claims, expected);
  if (wrong !== undefined) throw refuse(`The assertion is not what was asked for: ${wrong}.`);
  return { text, jti: String(claims?.['jti']) };
}

type Claims = Readonly<Record<string, unknown>> | undefined;

/** What is wrong with it, in words of our own. */
function problemOf(header: Claims, claims: Claims, expected: IdJagExpected): string | undefined {
  if (!header || !claims) return 'it cannot be read';
  const { typ, alg } = header;
  if (typeof typ !== 'string' || typ.toLowerCase() !== JWT_TYPE) return `its typ is not ${JWT_TYPE}`;
  if (typeof alg !== 'string' || alg.toLowerCase() === 'none') return 'it is not signed';
  const { iss, sub, aud, client_id: clientId, resource, exp, jti } = claims;
  if (expected.issuer !== undefined && iss !== expected.issuer) return 'its iss is another issuer';
  if (only(aud) !== expected.audience) return 'its aud is not the authorization server';
  if (clientId !== expected.clientId) return 'its client_id is not ours there';
  const wanted = canonicalizeUrl(expected.resource) ?? expected.resource;
  const named = only(resource);
  if (named === undefined || (canonicalizeUrl(named) ?? named) !== wanted)
    return 'its resource is not the server';
  if (typeof sub !== 'string' || sub === '') return 'it is about nobody';
  if (typeof jti !== 'string' || jti === '') return 'it has no jti';
  const now = expected.clock.now() / 1_000;
  if (typeof exp !== 'number' || exp <= now - TOLERANCE_S) return 'it is over';
  return undefined;
}

/** One alone: with a second, somebody else could use it too. */
function only(value: unknown): string | undefined {
  const [first, ...others] = Array.isArray(value) ? (value as unknown[]) : [value];
  return others.length === 0 && typeof first === 'string' ? first : undefined;
}

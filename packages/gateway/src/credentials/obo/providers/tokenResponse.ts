import type { Clock } from '@behalf/kernel';
import { ExchangeFault } from '../exchangeFault.ts';
import type { ExchangedToken, ProviderIdentity } from '../exchangeProvider.ts';
import { toResponseFault } from './responseFault.ts';
import { parseJsonObject, type ProviderResponse } from './providerRequest.ts';

/** Where the provider does not say: short enough to do little harm, long enough to be of use. */
const DEFAULT_LIFETIME_S = 5 * 60;
/** Nobody keeps one for longer, whatever the provider says. */
const MAX_LIFETIME_S = 24 * 60 * 60;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
/** What can stand in a header after `Bearer ` and cannot end it. */
const TOKEN_PATTERN = /^[\x21-\x7e]+$/;
/** It goes out in a header with every request, and thousands are kept. */
const MAX_TOKEN_LENGTH = 32 * 1_024;
const TYPE_PREFIX = 'urn:ietf:params:oauth:token-type:';
/** RFC 8693, section 3: what may be shown to a server as a bearer. */
const BEARER_TYPES = ['access_token', 'jwt'].map((name) => TYPE_PREFIX + name);
/** Proofs of another kind: each would tell or allow the server what is meant for somebody else. */
const NON_BEARER_TYPES = ['id_token', 'refresh_token', 'saml1', 'saml2', 'id-jag'].map(
  (name) => TYPE_PREFIX + name,
);

export interface TokenResponseContext {
  readonly clock: Clock;
  readonly grant: ProviderIdentity['grant'];
  /** Asked for by name; absent where it was not. */
  readonly requestedTokenType?: string | undefined;
  /** It was asked for with a proof, and has to be bound to that key. */
  readonly isBound?: boolean;
}

/** The token in an answer, or an ExchangeFault: an answer that is not surely a bearer token is none. */
export function readTokenResponse(
  response: ProviderResponse,
  { clock, grant, requestedTokenType, isBound = false }: TokenResponseContext,
): ExchangedToken {
  const { status, sentAt } = response;
  const body = parseJsonObject(response.text);
  // Some answer 200 to everything: an error is one whatever its status.
  if (status < 200 || status > 299 || body?.['error'] !== undefined)
    throw toResponseFault(response, body, clock, grant);
  const refuse = (hint: string) => new ExchangeFault('OBO_EMPTY_RESPONSE', { status, hint });
  if (status !== 200 || !body || !JSON_TYPE.test(response.header('content-type') ?? '')) {
    throw refuse('The token endpoint did not respond with JSON.');
  }
  const { access_token: token, token_type: type, expires_in: lifetime, scope } = body;
  if (typeof token !== 'string' || !TOKEN_PATTERN.test(token))
    throw refuse('The response does not contain a token.');
  if (token.length > MAX_TOKEN_LENGTH)
    throw refuse('The token is longer than 32 KiB: reduce its claims at the provider, such as groups.');
  // One that is bound to no key is not what was asked for, and one that is bound to a key is none to send without.
  if (typeof type !== 'string' || type.toLowerCase() !== (isBound ? 'dpop' : 'bearer'))
    throw refuse(isBound ? 'The token is not bound to the key (DPoP).' : 'The token is not a bearer token.');
  if (grant === 'token-exchange' && !isBearerType(body['issued_token_type'], requestedTokenType)) {
    throw refuse('The issued token is not an access token: check requestedTokenType.');
  }
  const seconds = parseSeconds(lifetime);
  if (seconds === undefined || seconds <= 0) throw refuse('The token expired before it was received.');
  const lifetimeMs = Math.min(seconds, MAX_LIFETIME_S) * 1_000;
  return {
    token,
    expiresAt: sentAt + lifetimeMs,
    lifetimeMs,
    scopes: typeof scope === 'string' ? scope.split(' ').filter((one) => one !== '') : undefined,
  };
}

/** RFC 8693, section 2.2.1, requires it: whoever leaves it out may have issued anything. */
function isBearerType(issued: unknown, requested: string | undefined): boolean {
  if (typeof issued !== 'string' || NON_BEARER_TYPES.includes(issued)) return false;
  return BEARER_TYPES.includes(issued) || issued === requested;
}

/** A number; some write it as text. */
function parseSeconds(value: unknown): number | undefined {
  if (value === undefined || value === null) return DEFAULT_LIFETIME_S;
  if (typeof value === 'string') return /^-?\d{1,12}$/.test(value) ? Number(value) : undefined;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

import type { Clock } from '@behalf/kernel';
import { readRetryAfter } from '../../../upstream/http/errors.ts';
import { normalizeClaims } from '../../oauth/claims.ts';
import {
  ExchangeFault,
  type ExchangedToken,
  type FaultCode,
  type ProviderIdentity,
} from '../exchangeProvider.ts';
import { entraCode, explainEntraCode } from './entraCodes.ts';
import { type ProviderResponse, createRedirectFault, parseJsonObject } from './tokenRequest.ts';

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

interface TokenResponseContext {
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

type Body = Readonly<Record<string, unknown>>;
type Grant = ProviderIdentity['grant'];

/** RFC 6749, section 5.2, and what extensions add. A word with anything else in it is no code. */
const ERROR_CODE = /^[A-Za-z0-9_.-]{1,64}$/;
/** As long as the exchanger leaves a provider alone. */
const MAX_RETRY_AFTER_MS = 60 * 60_000;

const INTERACTION_ERRORS = new Set(['interaction_required', 'consent_required', 'login_required']);
/** Entra's second word. The rest of them say nothing new. */
const INTERACTION_SUBERRORS = new Set([
  ...INTERACTION_ERRORS,
  'basic_action',
  'additional_action',
  'message_only',
  'user_password_expired',
]);
const TEMPORARY_ERRORS = new Set(['temporarily_unavailable', 'server_error', 'slow_down']);

/** What stays the same for everybody until an operator changes something, and what that is. */
const MISCONFIGURED_ERRORS: Readonly<Record<string, string>> = {
  invalid_client:
    'The provider does not accept the client credentials: check clientId, the secret or key, and clientAuth.',
  unauthorized_client:
    'The client is not allowed to use this grant: allow token exchange in its registration.',
  invalid_scope: 'The provider does not know or does not allow these scopes: check obo.scopes.',
  invalid_target:
    'The provider does not know this audience or resource: check obo.audience and obo.resource.',
  unsupported_grant_type: 'The provider does not support this grant: check type, obo.grant and the endpoint.',
  invalid_request:
    'The provider rejected the request as incomplete or malformed: check scopes, audience and parameters.',
  invalid_dpop_proof:
    'The provider requires DPoP from this client: set dpop: require for the provider, or disable DPoP in the client registration.',
  use_dpop_nonce:
    'The provider requires DPoP from this client: set dpop: require for the provider, or disable DPoP in the client registration.',
};

/** What depends on the caller. Never `misconfigured`: that puts a server aside for everybody. */
const REJECTED_ERRORS: Readonly<Record<string, string | undefined>> = {
  invalid_grant: undefined,
  invalid_token: undefined,
  access_denied: 'The provider denied this exchange: check its policy for this user and client.',
};

/** RFC 8693, section 2.2.2, has this one code for a bad request and for a subject token that is not accepted. */
const INVALID_REQUEST_HINT =
  'The provider rejected the subject token or found the request malformed. If this happens for all users, check scopes, audience and parameters.';

/** An answer that is an error: by its status, its code and its `claims`. Its description is read for a number alone. */
export function toResponseFault(
  response: ProviderResponse,
  body: Body | undefined,
  clock: Clock,
  grant: Grant,
): ExchangeFault {
  const { status } = response;
  const error = readErrorCode(body?.['error']);
  const entraNumber = body && entraCode(body);
  const providerCode = entraNumber === undefined ? error : `AADSTS${entraNumber}`;
  const entraExplanation = entraNumber === undefined ? undefined : explainEntraCode(entraNumber);
  const detail = { status, providerCode };
  if (status === 429 || status >= 500) {
    const retryAfterMs = readRetryAfter(response.header('retry-after'), clock, MAX_RETRY_AFTER_MS);
    return new ExchangeFault('OBO_TEMPORARY', {
      ...detail,
      isRetryable: true,
      retryAfterMs,
      hint: entraExplanation?.hint,
    });
  }
  if (status >= 300 && status < 400) return createRedirectFault(undefined, status);
  const claims = readClaims(body?.['claims']);
  const { code, hint } = classifyError(error, readErrorCode(body?.['suberror']), grant);
  // Whatever else is wrong, this can be proven.
  const outcome = claims === undefined ? (entraExplanation?.outcome ?? code) : 'OBO_CONSENT_REQUIRED';
  return new ExchangeFault(outcome, {
    ...detail,
    hint: entraExplanation?.hint ?? hint,
    isRetryable: outcome === 'OBO_TEMPORARY' && error !== undefined && TEMPORARY_ERRORS.has(error),
    claims,
  });
}

function classifyError(
  error: string | undefined,
  suberror: string | undefined,
  grant: Grant,
): { readonly code: FaultCode; readonly hint?: string | undefined } {
  if (suberror !== undefined && INTERACTION_SUBERRORS.has(suberror)) return { code: 'OBO_CONSENT_REQUIRED' };
  if (error === undefined) return { code: 'OBO_TEMPORARY' };
  if (INTERACTION_ERRORS.has(error)) return { code: 'OBO_CONSENT_REQUIRED' };
  if (grant === 'token-exchange' && error === 'invalid_request') {
    return { code: 'OBO_REJECTED', hint: INVALID_REQUEST_HINT };
  }
  if (Object.hasOwn(REJECTED_ERRORS, error)) return { code: 'OBO_REJECTED', hint: REJECTED_ERRORS[error] };
  if (Object.hasOwn(MISCONFIGURED_ERRORS, error))
    return { code: 'OBO_MISCONFIGURED', hint: MISCONFIGURED_ERRORS[error] };
  return { code: 'OBO_TEMPORARY' };
}

function readErrorCode(value: unknown): string | undefined {
  return typeof value === 'string' && ERROR_CODE.test(value) ? value : undefined;
}

/** What must be proven at the next sign-in; sent on to the provider's own page and nowhere else. */
function readClaims(value: unknown): string | undefined {
  return typeof value === 'string' ? normalizeClaims(value) : undefined;
}

import type { Clock } from '@behalf/kernel';
import { readRetryAfter } from '../../../upstream/http/errors.ts';
import { normalizeClaims } from '../../oauth/claims.ts';
import {
  type HttpResponse,
  type JsonBody,
  MAX_TOKEN_LENGTH,
  interactionErrors,
  isTokenText,
  parseJsonObject,
  parseSeconds,
  readErrorCode,
  temporaryErrors,
} from '../../oauth/tokenRequest.ts';
import {
  ExchangeFault,
  type ExchangedToken,
  type FaultCode,
  type ProviderIdentity,
} from '../exchangeProvider.ts';
import { entraCode, explainEntraCode } from './entraCodes.ts';

export const MAX_RESPONSE_BYTES = 1024 * 1024;
/** Used if the provider sends no `expires_in`. */
const DEFAULT_LIFETIME_S = 5 * 60;
const MAX_LIFETIME_S = 24 * 60 * 60;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const TYPE_PREFIX = 'urn:ietf:params:oauth:token-type:';
/** RFC 8693, section 3: the types that can be presented to a server as an access token. */
const BEARER_TYPES = ['access_token', 'jwt'].map((name) => TYPE_PREFIX + name);
/** Tokens for other recipients. A server that receives one could use it there. */
const NON_BEARER_TYPES = ['id_token', 'refresh_token', 'saml1', 'saml2', 'id-jag'].map(
  (name) => TYPE_PREFIX + name,
);

type Grant = ProviderIdentity['grant'];

interface TokenResponseContext {
  readonly clock: Clock;
  readonly grant: Grant;
  readonly requestedTokenType?: string | undefined;
  /** The request carried a DPoP proof, so the token must be bound to that key. */
  readonly isBound?: boolean;
}

/** The access token in a response. Throws ExchangeFault unless the response is clearly one. */
export function readTokenResponse(
  response: HttpResponse,
  { clock, grant, requestedTokenType, isBound = false }: TokenResponseContext,
): ExchangedToken {
  const { status, sentAt } = response;
  const body = requireSuccess(response, clock, grant);
  const refuse = (hint: string) => new ExchangeFault('OBO_EMPTY_RESPONSE', { status, hint });
  if (!body || !JSON_TYPE.test(response.header('content-type') ?? ''))
    throw refuse('The token endpoint did not respond with JSON.');
  const { access_token: token, token_type: type, expires_in: lifetime, scope } = body;
  if (!isTokenText(token)) throw refuse('The response does not contain a token.');
  if (token.length > MAX_TOKEN_LENGTH)
    throw refuse('The token is longer than 32 KiB: reduce its claims at the provider, such as groups.');
  // An unbound token does not meet the request. A bound token cannot be presented without the key.
  if (typeof type !== 'string' || type.toLowerCase() !== (isBound ? 'dpop' : 'bearer'))
    throw refuse(isBound ? 'The token is not bound to the key (DPoP).' : 'The token is not a bearer token.');
  if (grant === 'token-exchange' && !isBearerType(body['issued_token_type'], requestedTokenType))
    throw refuse('The issued token is not an access token: check requestedTokenType.');
  const seconds = parseSeconds(lifetime ?? DEFAULT_LIFETIME_S);
  if (seconds === undefined || seconds <= 0) throw refuse('The token expired before it was received.');
  const lifetimeMs = Math.min(seconds, MAX_LIFETIME_S) * 1_000;
  return {
    token,
    expiresAt: sentAt + lifetimeMs,
    lifetimeMs,
    scopes: typeof scope === 'string' ? scope.split(' ').filter((one) => one !== '') : undefined,
  };
}

/** The body of a 200 response; undefined if it is not a JSON object. Throws ExchangeFault for an error response. */
export function requireSuccess(response: HttpResponse, clock: Clock, grant: Grant): JsonBody | undefined {
  const { status } = response;
  const body = parseJsonObject(response.text ?? '');
  // Some servers send errors with status 200.
  if (status < 200 || status > 299 || body?.['error'] !== undefined)
    throw toResponseFault(response, body, clock, grant);
  return status === 200 ? body : undefined;
}

/** RFC 8693, section 2.2.1, requires `issued_token_type`. Without it the token could be of any type. */
function isBearerType(issued: unknown, requested: string | undefined): boolean {
  if (typeof issued !== 'string' || NON_BEARER_TYPES.includes(issued)) return false;
  return BEARER_TYPES.includes(issued) || issued === requested;
}

/** The exchanger pauses a provider for at most this time. */
const MAX_RETRY_AFTER_MS = 60 * 60_000;

/** Suberrors of Entra that require user interaction. The other suberrors add nothing to the error. */
const INTERACTION_SUBERRORS = new Set([
  ...interactionErrors,
  'basic_action',
  'additional_action',
  'message_only',
  'user_password_expired',
]);

const DPOP_HINT =
  'The provider requires DPoP from this client: set dpop: require for the provider, or disable DPoP in the client registration.';

/** Errors that affect every user until the operator changes something, with the hint for the operator. */
const MISCONFIGURED_ERRORS: Readonly<Record<string, string>> = {
  invalid_client:
    'The provider does not accept the client credentials: check clientId, the secret or key, clientAuth and clientAssertionAudience.',
  unauthorized_client:
    'The client is not allowed to use this grant: allow token exchange in its registration.',
  invalid_scope: 'The provider does not know or does not allow these scopes: check obo.scopes.',
  invalid_target:
    'The provider does not know this audience or resource: check obo.audience and obo.resource.',
  unsupported_grant_type: 'The provider does not support this grant: check type, obo.grant and the endpoint.',
  invalid_request:
    'The provider rejected the request as incomplete or malformed: check scopes, audience and parameters.',
  invalid_dpop_proof: DPOP_HINT,
  use_dpop_nonce: DPOP_HINT,
};

/** Errors that depend on the user. They are never `misconfigured`, which would pause the server for all users. */
const REJECTED_ERRORS: Readonly<Record<string, string | undefined>> = {
  invalid_grant: undefined,
  invalid_token: undefined,
  access_denied: 'The provider denied this exchange: check its policy for this user and client.',
};

/** RFC 8693, section 2.2.2, uses one code for a malformed request and for a subject token that is not accepted. */
const INVALID_REQUEST_HINT =
  'The provider rejected the subject token or found the request malformed. If this happens for all users, check scopes, audience and parameters.';

/** Classifies an error response by status, error code and `claims`. Of the description only the AADSTS number is read. */
export function toResponseFault(
  response: HttpResponse,
  body: JsonBody | undefined,
  clock: Clock,
  grant: Grant,
): ExchangeFault {
  const { status } = response;
  const error = readErrorCode(body?.['error']);
  const entraNumber = body && entraCode(body);
  const entraExplanation = entraNumber === undefined ? undefined : explainEntraCode(entraNumber);
  const detail = { status, providerCode: entraNumber === undefined ? error : `AADSTS${entraNumber}` };
  if (status === 429 || status >= 500) {
    const retryAfterMs = readRetryAfter(response.header('retry-after'), clock, MAX_RETRY_AFTER_MS);
    const hint = entraExplanation?.hint;
    return new ExchangeFault('OBO_TEMPORARY', { ...detail, isRetryable: true, retryAfterMs, hint });
  }
  if (status >= 300 && status < 400) return createRedirectFault({ status });
  // Claims for the user's next sign-in. They are sent only to the provider's own authorization endpoint.
  const claims = typeof body?.['claims'] === 'string' ? normalizeClaims(body['claims']) : undefined;
  const { code, hint } = classifyError(error, readErrorCode(body?.['suberror']), grant);
  // A claims challenge takes precedence: the user can meet it.
  const outcome = claims === undefined ? (entraExplanation?.outcome ?? code) : 'OBO_CONSENT_REQUIRED';
  return new ExchangeFault(outcome, {
    ...detail,
    hint: entraExplanation?.hint ?? hint,
    isRetryable: outcome === 'OBO_TEMPORARY' && error !== undefined && temporaryErrors.has(error),
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
  if (interactionErrors.has(error)) return { code: 'OBO_CONSENT_REQUIRED' };
  if (grant === 'token-exchange' && error === 'invalid_request')
    return { code: 'OBO_REJECTED', hint: INVALID_REQUEST_HINT };
  if (Object.hasOwn(REJECTED_ERRORS, error)) return { code: 'OBO_REJECTED', hint: REJECTED_ERRORS[error] };
  if (Object.hasOwn(MISCONFIGURED_ERRORS, error))
    return { code: 'OBO_MISCONFIGURED', hint: MISCONFIGURED_ERRORS[error] };
  return { code: 'OBO_TEMPORARY' };
}

/** Reasons of the egress that do not change with a retry. */
const REFUSED_REASONS = [
  'bad_url',
  'bad_request',
  'domain_not_allowed',
  'blocked_name',
  'private_address',
  'gateway_address',
  'hop_limit',
];
const REDIRECT_REASONS = ['redirect_refused', 'too_many_redirects'];
const UNREADABLE_REASONS = ['body_too_large', 'sse_line_too_large', 'encoded_response'];
/** The certificate of the provider has an unknown issuer, another name, or is expired or not yet valid. */
const UNTRUSTED_REASON = 'certificate_untrusted';
const MAX_CAUSE_DEPTH = 5;

/** Classifies a failed request by the typed reasons of the error and its causes, never by message text. */
export function toNetworkFault(cause: unknown): ExchangeFault {
  if (cause instanceof ExchangeFault) return cause;
  const reasons = collectReasons(cause);
  const includesAny = (candidates: readonly string[]) =>
    reasons.some((reason) => candidates.includes(reason));
  if (includesAny(REFUSED_REASONS)) {
    const hint = 'The address of the identity provider is not allowed; see allowedAddresses.';
    return new ExchangeFault('OBO_MISCONFIGURED', { hint, cause });
  }
  if (includesAny(REDIRECT_REASONS)) return createRedirectFault({ cause });
  if (reasons.includes(UNTRUSTED_REASON)) {
    const hint =
      'The certificate of the identity provider is not trusted; renew it if it has expired, or set caFile to the CA that signed it.';
    return new ExchangeFault('OBO_MISCONFIGURED', { hint, cause });
  }
  if (includesAny(UNREADABLE_REASONS)) return new ExchangeFault('OBO_EMPTY_RESPONSE', { cause });
  return new ExchangeFault('OBO_TEMPORARY', { isRetryable: true, cause });
}

/** A redirect would carry the client credential and the user's token to another address. */
function createRedirectFault(detail: { readonly status?: number; readonly cause?: unknown }): ExchangeFault {
  const hint = 'The token endpoint responded with a redirect, which is never followed; correct its URL.';
  return new ExchangeFault('OBO_MISCONFIGURED', { hint, ...detail });
}

/** `reason` and `detail` of the egress, and `code` of the operating system. */
function collectReasons(error: unknown): string[] {
  const reasons: string[] = [];
  let current = error;
  for (
    let depth = 0;
    depth < MAX_CAUSE_DEPTH && typeof current === 'object' && current !== null;
    depth += 1
  ) {
    const { reason, detail, code, cause } = current as Readonly<Record<string, unknown>>;
    reasons.push(...[reason, detail, code].filter((value) => typeof value === 'string'));
    current = cause;
  }
  return reasons;
}

import type { Clock } from '@behalf/kernel';
import { readRetryAfter } from '../../../upstream/http/classifyStatus.ts';
import { normalizeClaims } from '../claimsChallenge.ts';
import { ExchangeFault, type FaultCode } from '../exchangeFault.ts';
import type { ProviderIdentity } from '../exchangeProvider.ts';
import type { ProviderResponse } from './providerRequest.ts';
import { entraCode, explainEntraCode } from './entraCodes.ts';
import { createRedirectFault } from './networkFault.ts';

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

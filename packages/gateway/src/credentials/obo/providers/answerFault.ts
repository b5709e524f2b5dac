import type { Clock } from '@behalf/kernel';
import { readRetryAfter } from '../../../upstream/http/classifyStatus.ts';
import { claimsText } from '../claimsChallenge.ts';
import { ExchangeFault, type FaultCode } from '../exchangeFault.ts';
import type { ProviderIdentity } from '../exchangeProvider.ts';
import type { Answer } from './ask.ts';
import { entraCode, explainEntraCode } from './entraCodes.ts';
import { redirectFault } from './networkFault.ts';

type Body = Readonly<Record<string, unknown>>;
type Grant = ProviderIdentity['grant'];

/** RFC 6749, section 5.2, and what extensions add. A word with anything else in it is no code. */
const CODE = /^[A-Za-z0-9_.-]{1,64}$/;
/** As long as the exchanger leaves a provider alone. */
const LONGEST_WAIT_MS = 60 * 60_000;

const INTERACTION = new Set(['interaction_required', 'consent_required', 'login_required']);
/** Entra's second word. The rest of them say nothing new. */
const INTERACTION_SUBERRORS = new Set([
  ...INTERACTION,
  'basic_action',
  'additional_action',
  'message_only',
  'user_password_expired',
]);
const PASSING = new Set(['temporarily_unavailable', 'server_error', 'slow_down']);

/** What stays the same for everybody until an operator changes something, and what that is. */
const MISCONFIGURED: Readonly<Record<string, string>> = {
  invalid_client: 'The provider does not accept the client: check its id, its secret or key, and clientAuth.',
  unauthorized_client: 'The client may not use this grant: allow the exchange in its registration.',
  invalid_scope: 'The provider does not know or not allow these scopes: check obo.scopes.',
  invalid_target:
    'The provider does not know this audience or resource: check obo.audience and obo.resource.',
  unsupported_grant_type: 'The provider does not offer this grant: check type, obo.grant and the endpoint.',
  invalid_request:
    'The provider finds the request incomplete or malformed: check scopes, audience, parameters.',
  invalid_dpop_proof:
    'The client is registered for DPoP: set dpop: require for the provider here, or turn it off for the client there.',
  use_dpop_nonce:
    'The client is registered for DPoP: set dpop: require for the provider here, or turn it off for the client there.',
};

/** What depends on the caller. Never `misconfigured`: that puts a server aside for everybody. */
const REJECTED: Readonly<Record<string, string | undefined>> = {
  invalid_grant: undefined,
  invalid_token: undefined,
  access_denied: 'The provider refuses this exchange: check its policy for this user and this client.',
};

/** RFC 8693, section 2.2.2, has this one code for a bad request and for a subject token that is not accepted. */
const SUBJECT_OR_REQUEST =
  'The provider does not accept the subject token, or finds the request malformed. If it says so for everybody, check scopes, audience and parameters.';

/** An answer that is an error: by its status, its code and its `claims`. Its description is read for a number alone. */
export function answerFault(
  answer: Answer,
  body: Body | undefined,
  clock: Clock,
  grant: Grant,
): ExchangeFault {
  const { status } = answer;
  const error = codeIn(body?.['error']);
  const entra = body && entraCode(body);
  const providerCode = entra === undefined ? error : `AADSTS${entra}`;
  const explained = entra === undefined ? undefined : explainEntraCode(entra);
  const detail = { status, providerCode };
  if (status === 429 || status >= 500) {
    const retryAfterMs = readRetryAfter(answer.header('retry-after'), clock, LONGEST_WAIT_MS);
    return new ExchangeFault('OBO_TEMPORARY', {
      ...detail,
      mayRepeat: true,
      retryAfterMs,
      hint: explained?.hint,
    });
  }
  if (status >= 300 && status < 400) return redirectFault(undefined, status);
  const claims = claimsIn(body?.['claims']);
  const { code, hint } = verdict(error, codeIn(body?.['suberror']), grant);
  // Whatever else is wrong, this can be proven.
  const outcome = claims === undefined ? (explained?.outcome ?? code) : 'OBO_CONSENT_REQUIRED';
  return new ExchangeFault(outcome, {
    ...detail,
    hint: explained?.hint ?? hint,
    mayRepeat: outcome === 'OBO_TEMPORARY' && error !== undefined && PASSING.has(error),
    claims,
  });
}

function verdict(
  error: string | undefined,
  suberror: string | undefined,
  grant: Grant,
): { readonly code: FaultCode; readonly hint?: string | undefined } {
  if (suberror !== undefined && INTERACTION_SUBERRORS.has(suberror)) return { code: 'OBO_CONSENT_REQUIRED' };
  if (error === undefined) return { code: 'OBO_TEMPORARY' };
  if (INTERACTION.has(error)) return { code: 'OBO_CONSENT_REQUIRED' };
  if (grant === 'token-exchange' && error === 'invalid_request') {
    return { code: 'OBO_REJECTED', hint: SUBJECT_OR_REQUEST };
  }
  if (Object.hasOwn(REJECTED, error)) return { code: 'OBO_REJECTED', hint: REJECTED[error] };
  if (Object.hasOwn(MISCONFIGURED, error)) return { code: 'OBO_MISCONFIGURED', hint: MISCONFIGURED[error] };
  return { code: 'OBO_TEMPORARY' };
}

function codeIn(value: unknown): string | undefined {
  return typeof value === 'string' && CODE.test(value) ? value : undefined;
}

/** What must be proven at the next sign-in; sent on to the provider's own page and nowhere else. */
function claimsIn(value: unknown): string | undefined {
  return typeof value === 'string' ? claimsText(value) : undefined;
}

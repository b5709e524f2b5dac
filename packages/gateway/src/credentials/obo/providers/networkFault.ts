import { ExchangeFault } from '../exchangeFault.ts';

/** What the door out refuses, however often it is asked. */
const REFUSED_REASONS = new Set([
  'bad_url',
  'bad_request',
  'domain_not_allowed',
  'blocked_name',
  'private_address',
  'gateway_address',
  'hop_limit',
]);
const REDIRECT_REASONS = new Set(['redirect_refused', 'too_many_redirects']);
const UNREADABLE_REASONS = new Set(['body_too_large', 'sse_line_too_large', 'encoded_response']);
/** The provider's certificate is by nobody we know, for another name, over, or not valid yet. */
const UNTRUSTED_REASON = 'certificate_untrusted';
const MAX_CAUSE_DEPTH = 5;

/** No answer, or not a whole one. Judged by the typed words of the error and of its causes, never by its text. */
export function toNetworkFault(error: unknown): ExchangeFault {
  if (error instanceof ExchangeFault) return error;
  const reasons = collectReasons(error);
  if (reasons.some((reason) => REFUSED_REASONS.has(reason))) {
    return misconfigured(error, 'The address of the identity provider is not allowed; see allowedAddresses.');
  }
  if (reasons.some((reason) => REDIRECT_REASONS.has(reason))) return createRedirectFault(error);
  if (reasons.includes(UNTRUSTED_REASON)) {
    return misconfigured(
      error,
      'The certificate of the identity provider is not trusted; renew it if it has expired, or set caFile to the CA that signed it.',
    );
  }
  if (reasons.some((reason) => UNREADABLE_REASONS.has(reason))) {
    return new ExchangeFault('OBO_EMPTY_RESPONSE', { cause: error });
  }
  return new ExchangeFault('OBO_TEMPORARY', { isRetryable: true, cause: error });
}

/** A token endpoint that sends us elsewhere is not the one that was configured. */
export function createRedirectFault(cause?: unknown, status?: number): ExchangeFault {
  const hint = 'The token endpoint responded with a redirect, which is never followed; correct its URL.';
  return new ExchangeFault('OBO_MISCONFIGURED', { hint, status, cause });
}

function misconfigured(cause: unknown, hint: string): ExchangeFault {
  return new ExchangeFault('OBO_MISCONFIGURED', { hint, cause });
}

/** `reason` and `detail` of the door out, `code` of the system. */
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

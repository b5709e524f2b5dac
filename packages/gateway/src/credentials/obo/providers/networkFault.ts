import { ExchangeFault } from '../exchangeFault.ts';

/** What the door out refuses, however often it is asked. */
const REFUSED = new Set([
  'bad_url',
  'bad_request',
  'domain_not_allowed',
  'blocked_name',
  'private_address',
  'own_address',
  'hop_limit',
]);
const REDIRECTED = new Set(['redirect_refused', 'too_many_redirects']);
const UNREADABLE = new Set(['body_too_large', 'sse_line_too_large', 'encoded_response']);
/** The provider's certificate is by nobody we know, for another name, over, or not valid yet. */
const UNTRUSTED = 'certificate_untrusted';
const DEEPEST_CAUSE = 5;

/** No answer, or not a whole one. Judged by the typed words of the error and of its causes, never by its text. */
export function networkFault(error: unknown): ExchangeFault {
  if (error instanceof ExchangeFault) return error;
  const words = wordsOf(error);
  if (words.some((word) => REFUSED.has(word))) {
    return misconfigured(error, 'The address of the identity provider is not allowed; see allowedAddresses.');
  }
  if (words.some((word) => REDIRECTED.has(word))) return redirectFault(error);
  if (words.includes(UNTRUSTED)) {
    return misconfigured(
      error,
      'The certificate of the identity provider is not trusted; renew it if it has ended, or name the authority that signed it in caFile.',
    );
  }
  if (words.some((word) => UNREADABLE.has(word))) {
    return new ExchangeFault('OBO_EMPTY_RESPONSE', { cause: error });
  }
  return new ExchangeFault('OBO_TEMPORARY', { mayRepeat: true, cause: error });
}

/** A token endpoint that sends us elsewhere is not the one that was configured. */
export function redirectFault(cause?: unknown, status?: number): ExchangeFault {
  const hint = 'The token endpoint answered with a redirect, which is never followed; correct its address.';
  return new ExchangeFault('OBO_MISCONFIGURED', { hint, status, cause });
}

function misconfigured(cause: unknown, hint: string): ExchangeFault {
  return new ExchangeFault('OBO_MISCONFIGURED', { hint, cause });
}

/** `reason` and `detail` of the door out, `code` of the system. */
function wordsOf(error: unknown): string[] {
  const words: string[] = [];
  let current = error;
  for (let depth = 0; depth < DEEPEST_CAUSE && typeof current === 'object' && current !== null; depth += 1) {
    const { reason, detail, code, cause } = current as Readonly<Record<string, unknown>>;
    words.push(...[reason, detail, code].filter((word) => typeof word === 'string'));
    current = cause;
  }
  return words;
}

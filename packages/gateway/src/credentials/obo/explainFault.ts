import { GatewayError } from '../../errors/gatewayError.ts';
import { ReauthNeeded } from '../reauthNeeded.ts';
import { ExchangeFault } from './exchangeFault.ts';
import { SubjectUnavailable, type Subject } from './subject.ts';

/** When to come back, where the provider does not say: it is left alone for as long after a 429. */
const DEFAULT_RETRY_AFTER_MS = 2_000;

/**
 * What a caller is told of a failed exchange. Whose turn it is decides: the user's, the operator's or nobody's. What the
 * provider said is for the operator alone.
 */
export function explainFault(error: unknown, via: Subject['via']): unknown {
  if (error instanceof SubjectUnavailable) {
    const code = error.reason === 'absent' ? 'OBO_SUBJECT_TOKEN_MISSING' : 'OBO_SUBJECT_TOKEN_EXPIRED';
    return new ReauthNeeded(error.reason, { code, via: error.via }, error);
  }
  if (!(error instanceof ExchangeFault)) return error;
  const { code, detail } = error;
  if (code === 'OBO_REJECTED') return new ReauthNeeded('rejected', { code, via }, error);
  if (code === 'OBO_CONSENT_REQUIRED') {
    return new ReauthNeeded('interaction_required', { code, via, claims: detail.claims }, error);
  }
  const retryAfterMs = detail.retryAfterMs ?? (code === 'OBO_TEMPORARY' ? DEFAULT_RETRY_AFTER_MS : undefined);
  return new GatewayError(code, { ...(retryAfterMs !== undefined && { retryAfterMs }), cause: error });
}

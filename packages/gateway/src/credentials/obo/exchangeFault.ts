import type { ErrorCode } from '@behalf/contracts';

/**
 * Whose turn it is when an exchange fails: the user's, who must sign in again; the operator's; or nobody's, because it
 * passes by itself.
 */
export type FaultKind = 'subject_rejected' | 'misconfigured' | 'idp_unavailable';

const kindByCode = {
  OBO_REJECTED: 'subject_rejected',
  OBO_CONSENT_REQUIRED: 'subject_rejected',
  OBO_MISCONFIGURED: 'misconfigured',
  OBO_EMPTY_RESPONSE: 'idp_unavailable',
  OBO_TEMPORARY: 'idp_unavailable',
} as const satisfies Partial<Record<ErrorCode, FaultKind>>;

export type FaultCode = keyof typeof kindByCode;

export interface FaultDetail {
  /** Network, 429, 5xx: the same request may succeed in a moment. */
  readonly isRetryable?: boolean;
  readonly retryAfterMs?: number | undefined;
  /** HTTP status of the answer. */
  readonly status?: number | undefined;
  /** The provider's own code (`invalid_grant`, `AADSTS50013`), checked to be one. For the log and the audit. */
  readonly providerCode?: string | undefined;
  /** What it means and what to do, for the operator. Never for the user, never the provider's own words. */
  readonly hint?: string | undefined;
  /** What the provider wants proven at the next sign-in: JSON text. */
  readonly claims?: string | undefined;
  readonly cause?: unknown;
}

/** The one error of an exchange. */
export class ExchangeFault extends Error {
  override readonly name = 'ExchangeFault';
  readonly code: FaultCode;
  readonly kind: FaultKind;
  readonly detail: FaultDetail;

  constructor(code: FaultCode, detail: FaultDetail = {}) {
    super(`Token exchange failed: ${code}`, { cause: detail.cause });
    this.code = code;
    this.kind = kindByCode[code];
    this.detail = detail;
  }
}

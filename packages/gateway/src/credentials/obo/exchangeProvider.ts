import type { ErrorCode } from '@behalf/contracts';
import type { Prover } from '../oauth/dpop.ts';
import type { Subject, SubjectKind } from './subject.ts';

/** What is asked for. */
export interface ExchangeRequest {
  readonly subject: Subject;
  /** As configured, without doubles. */
  readonly scopes: readonly string[];
  readonly audience: string | undefined;
  readonly resource: string | undefined;
  /** The server that the token is for. */
  readonly targetServer: ExchangeResource;
  /** A claims challenge: JSON text. */
  readonly claims: string | undefined;
  /** The key that the token has to be bound to, where the provider binds tokens. */
  readonly prover?: Prover | undefined;
}

/** A server as an exchange sees it. */
export interface ExchangeResource {
  readonly url: string;
  /** What it publishes as its authorization servers (RFC 9728). Rejects with ExchangeFault while it does not say. */
  authorizationServers(): Promise<readonly string[]>;
}

/** What came back, checked: a token that is not empty, a bearer token unless the provider binds them. */
export interface ExchangedToken {
  readonly token: string;
  /** Absolute, counted from when the request was sent. */
  readonly expiresAt: number;
  /** From when it was sent: what the skew is a part of. */
  readonly lifetimeMs: number;
  /** What was granted, where the provider says. */
  readonly scopes: readonly string[] | undefined;
}

/** What decides which tokens a provider gives out. All of it is part of the cache's key. */
export interface ProviderIdentity {
  readonly provider: string;
  readonly grant: 'entra' | 'jwt-bearer' | 'token-exchange' | 'id-jag';
  /** The token endpoint, or the issuer whose metadata names it. */
  readonly endpoint: string;
  readonly clientId: string;
  /** Changes when the client's secret, certificate or key does. Tells nothing of it. */
  readonly credentialVersion: string;
  /** The actor's token, where one is sent; else empty. A hash. */
  readonly actor: string;
}

/** Exchanges tokens. It keeps none, joins nobody and repeats nothing: all of that is done once, around it. */
export interface ExchangeProvider {
  readonly identity: ProviderIdentity;
  /** Which token of the user's it exchanges; absent: the access token. */
  readonly subjectKind?: SubjectKind;
  /** Its tokens are bound to a key: they are no bearer tokens. */
  readonly isKeyBound?: boolean;
  /** The MCP extension that its tokens belong to: servers are told that we know it. */
  readonly extension?: string;
  /** One token request at most (a provider with two legs: one for each). Rejects with ExchangeFault alone. */
  exchange(request: ExchangeRequest, signal: AbortSignal): Promise<ExchangedToken>;
}

/**
 * Whose turn it is when an exchange fails: the user's, who must sign in again; the operator's; or nobody's, because it
 * passes by itself.
 */
type FaultKind = 'subject_rejected' | 'misconfigured' | 'idp_unavailable';

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

import type { ErrorCode } from '@behalf/contracts';
import type { Prover } from '../oauth/dpop.ts';
import type { Subject, SubjectKind } from './subject.ts';

export interface ExchangeRequest {
  readonly subject: Subject;
  /** The configured scopes, without duplicates. */
  readonly scopes: readonly string[];
  readonly audience: string | undefined;
  readonly resource: string | undefined;
  /** The server that receives the token. */
  readonly targetServer: ExchangeResource;
  /** A claims challenge as JSON text. */
  readonly claims: string | undefined;
  /** The key that the token must be bound to, if the provider issues bound tokens. */
  readonly prover?: Prover | undefined;
}

/** The MCP server that receives an exchanged token. */
export interface ExchangeResource {
  readonly url: string;
  /** The authorization servers in its metadata (RFC 9728). Rejects with ExchangeFault if the metadata cannot be read. */
  authorizationServers(): Promise<readonly string[]>;
}

/** A validated token: not empty, and a bearer token unless it was requested with a key. */
export interface ExchangedToken {
  readonly token: string;
  /** Absolute time, counted from when the request was sent. */
  readonly expiresAt: number;
  readonly lifetimeMs: number;
  /** Granted scopes. Undefined if the provider does not say. */
  readonly scopes: readonly string[] | undefined;
}

/** Everything about a provider that determines which tokens it issues. All fields are part of the cache key. */
export interface ProviderIdentity {
  readonly provider: string;
  /** The protocol of the exchange: the provider's `type`, or the `obo.grant` that replaces it. */
  readonly grant: 'entra' | 'jwt-bearer' | 'token-exchange' | 'id-jag';
  /** The token endpoint, or the issuer whose metadata names it. */
  readonly endpoint: string;
  readonly clientId: string;
  /** A hash that changes with the client's secret, certificate or key. */
  readonly credentialVersion: string;
  /** A hash of the actor. Empty if no actor token is sent. */
  readonly actor: string;
}

/** Sends exchanges. It does not cache, share or retry them: the exchanger does that for every provider. */
export interface ExchangeProvider {
  readonly identity: ProviderIdentity;
  /** Which token of the user it exchanges. Default: the access token. */
  readonly subjectKind?: SubjectKind;
  /** Its tokens are bound to a key (DPoP). */
  readonly isKeyBound?: boolean;
  /** The MCP extension that the gateway declares to servers that receive its tokens. */
  readonly extension?: string;
  /** Sends at most one token request; `id-jag` sends one to each of its two endpoints. Rejects with ExchangeFault only. */
  exchange(request: ExchangeRequest, signal: AbortSignal): Promise<ExchangedToken>;
}

/** The party that can resolve a failed exchange: the user, the operator, or none of them if the fault is temporary. */
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
  /** A network error, 429 or 5xx: the same request may succeed after a short delay. */
  readonly isRetryable?: boolean;
  readonly retryAfterMs?: number | undefined;
  /** HTTP status of the response. */
  readonly status?: number | undefined;
  /** The provider's error code (`invalid_grant`, `AADSTS50013`), validated. For the log and the audit. */
  readonly providerCode?: string | undefined;
  /** Meaning and remedy for the operator. Never shown to the user, and never text from the provider. */
  readonly hint?: string | undefined;
  /** Claims that the provider requires at the next sign-in, as JSON text. */
  readonly claims?: string | undefined;
  readonly cause?: unknown;
}

/** The only error of an exchange. */
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

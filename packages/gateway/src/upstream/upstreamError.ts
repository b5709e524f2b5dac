import type { ErrorCode } from '@behalf/contracts';
import type { JsonObject } from './upstream.ts';

/**
 * What became of a request. `refused`: it was not run, so it may be sent again. `failed`: it ran, or was judged, and
 * the server answered with an error. `unknown`: it may have run. `unreachable`: nothing was sent.
 */
type UpstreamOutcome = 'refused' | 'failed' | 'unknown' | 'unreachable';

/** Every way a request can fail, with its outcome and the code that callers see. */
const reasons = {
  unauthorized: ['refused', 'MCP_CREDENTIAL_REJECTED'],
  forbidden: ['refused', 'MCP_CREDENTIAL_REJECTED'],
  insufficient_scope: ['refused', 'MCP_CREDENTIAL_REJECTED'],
  session_lost: ['refused', 'MCP_UNREACHABLE'],
  rate_limited: ['refused', 'MCP_RATE_LIMITED'],
  wrong_url: ['refused', 'MCP_PROTOCOL_ERROR'],
  redirected: ['refused', 'MCP_PROTOCOL_ERROR'],
  bad_request: ['refused', 'MCP_PROTOCOL_ERROR'],
  /** The server wants the user's input first (`input_required`, -32042). */
  input_required: ['refused', 'MCP_DIALOGUE_UNSUPPORTED'],
  /** -32020, -32021, -32022: it did not take the request in the form we sent. */
  header_mismatch: ['refused', 'MCP_PROTOCOL_ERROR'],
  /** It began a task instead of answering: against the protocol, unless the caller declared that it takes one. */
  task: ['failed', 'MCP_PROTOCOL_ERROR'],
  /** A JSON-RPC error in an answer of its own. */
  rpc_error: ['failed', 'MCP_PROTOCOL_ERROR'],
  timeout: ['unknown', 'MCP_TIMEOUT'],
  stream_broken: ['unknown', 'MCP_OUTCOME_UNCERTAIN'],
  reset: ['unknown', 'MCP_OUTCOME_UNCERTAIN'],
  upstream_5xx: ['unknown', 'MCP_OUTCOME_UNCERTAIN'],
  /** It answered, but not as MCP does. */
  invalid_response: ['unknown', 'MCP_PROTOCOL_ERROR'],
  too_large: ['unknown', 'MCP_RESPONSE_TOO_LARGE'],
  not_allowed: ['unreachable', 'MCP_DOMAIN_NOT_ALLOWED'],
  connect_failed: ['unreachable', 'MCP_UNREACHABLE'],
  connect_timeout: ['unreachable', 'MCP_TIMEOUT'],
  /** The process or socket ended before this could be sent. */
  ended: ['unreachable', 'MCP_UNREACHABLE'],
  /** Too many child processes for this user, or in all. */
  too_many: ['unreachable', 'MCP_RATE_LIMITED'],
  breaker_open: ['unreachable', 'MCP_BREAKER_OPEN'],
  /** The caller's token was still being obtained when the time was up. */
  token_timeout: ['unreachable', 'OBO_TEMPORARY'],
  /** A user's token for a connection that cannot carry one with every message. */
  bearer_unsupported: ['unreachable', 'OBO_MISCONFIGURED'],
} as const satisfies Record<string, readonly [UpstreamOutcome, ErrorCode]>;

export type UpstreamReason = keyof typeof reasons;

/** What a 401 or 403 said in `WWW-Authenticate`. */
export interface Challenge {
  readonly scheme: string;
  readonly error: string | undefined;
  readonly scope: string | undefined;
  readonly resourceMetadata: string | undefined;
  readonly claims: string | undefined;
}

export interface UpstreamErrorDetail {
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly challenge?: Challenge;
  /** The host a redirect leads to. Nothing else of its address: a path or query may hold a secret. */
  readonly redirectedTo?: string;
  /** The server's own error. Its text may hold anything; it never goes into a log. */
  readonly rpc?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** The result of an `input_required` answer, or of one that is a task. */
  readonly result?: JsonObject;
  readonly cause?: unknown;
}

/** The one error of this folder. Nobody else classifies, and nobody reads a message to find out what happened. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly reason: UpstreamReason;
  readonly outcome: UpstreamOutcome;
  readonly code: ErrorCode;
  readonly detail: UpstreamErrorDetail;

  constructor(reason: UpstreamReason, detail: UpstreamErrorDetail = {}) {
    super(`MCP server request failed: ${reason}`, { cause: detail.cause });
    this.reason = reason;
    [this.outcome, this.code] = reasons[reason];
    this.detail = detail;
  }
}

/** What egress knows of an error it threw. A part, because only the composition knows both packages. */
export type ReadNetworkError = (
  error: unknown,
) => { readonly code: ErrorCode; readonly requestSent: boolean } | undefined;

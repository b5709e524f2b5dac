import type { ErrorCode } from '@behalf/contracts';
import type { JsonObject } from './upstream.ts';

/**
 * Outcome of a failed request. `refused`: the server did not run it, so it may be sent again. `failed`: the server
 * processed it and returned an error. `unknown`: the server may have run it. `unreachable`: nothing was sent.
 */
type UpstreamOutcome = 'refused' | 'failed' | 'unknown' | 'unreachable';

/** Every reason for a failure, with its outcome and error code. */
const reasons = {
  unauthorized: ['refused', 'MCP_CREDENTIAL_REJECTED'],
  forbidden: ['refused', 'MCP_CREDENTIAL_REJECTED'],
  insufficient_scope: ['refused', 'MCP_CREDENTIAL_REJECTED'],
  session_lost: ['refused', 'MCP_UNREACHABLE'],
  rate_limited: ['refused', 'MCP_RATE_LIMITED'],
  wrong_url: ['refused', 'MCP_PROTOCOL_ERROR'],
  redirected: ['refused', 'MCP_PROTOCOL_ERROR'],
  bad_request: ['refused', 'MCP_PROTOCOL_ERROR'],
  /** The server requires user input first (`input_required`, -32042). */
  input_required: ['refused', 'MCP_DIALOGUE_UNSUPPORTED'],
  /** -32020, -32021, -32022: headers, protocol version or capabilities of the request do not match. */
  header_mismatch: ['refused', 'MCP_PROTOCOL_ERROR'],
  /** The server started a task. A protocol violation unless the caller declared the tasks extension. */
  task: ['failed', 'MCP_PROTOCOL_ERROR'],
  /** The response is a JSON-RPC error. */
  rpc_error: ['failed', 'MCP_PROTOCOL_ERROR'],
  timeout: ['unknown', 'MCP_TIMEOUT'],
  stream_broken: ['unknown', 'MCP_OUTCOME_UNCERTAIN'],
  reset: ['unknown', 'MCP_OUTCOME_UNCERTAIN'],
  upstream_5xx: ['unknown', 'MCP_OUTCOME_UNCERTAIN'],
  /** The response is not valid MCP. */
  invalid_response: ['unknown', 'MCP_PROTOCOL_ERROR'],
  too_large: ['unknown', 'MCP_RESPONSE_TOO_LARGE'],
  not_allowed: ['unreachable', 'MCP_DOMAIN_NOT_ALLOWED'],
  connect_failed: ['unreachable', 'MCP_UNREACHABLE'],
  connect_timeout: ['unreachable', 'MCP_TIMEOUT'],
  /** The process or socket ended before the request was sent. */
  ended: ['unreachable', 'MCP_UNREACHABLE'],
  /** The limit for connections or child processes is reached. */
  too_many: ['unreachable', 'MCP_RATE_LIMITED'],
  breaker_open: ['unreachable', 'MCP_BREAKER_OPEN'],
  /** The time limit passed while the caller's token was being obtained. */
  token_timeout: ['unreachable', 'OBO_TEMPORARY'],
  /** The transport cannot send a user's token with every message. */
  bearer_unsupported: ['unreachable', 'OBO_MISCONFIGURED'],
} as const satisfies Record<string, readonly [UpstreamOutcome, ErrorCode]>;

export type UpstreamReason = keyof typeof reasons;

/** The `WWW-Authenticate` challenge of a 401 or 403 (RFC 9110, section 11.6.1; RFC 6750, section 3). */
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
  /** Host of a redirect. The path and query are left out, because they may contain secrets. */
  readonly redirectedTo?: string;
  /** The JSON-RPC error of the server. Its text is untrusted and is never logged. */
  readonly rpc?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** The result of an `input_required` or task response. */
  readonly result?: JsonObject;
  readonly cause?: unknown;
}

/** The only error of this folder. Failures are classified here once; other code reads `reason`, never the message. */
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

/** JSON-RPC code of a modern server that needs a capability which the client did not declare. */
export const MISSING_CAPABILITY = -32_021;

/** Whether the server cannot run the request without input from the client. */
export function needsClientInput({ reason, detail }: UpstreamError): boolean {
  return reason === 'input_required' || detail.rpc?.code === MISSING_CAPABILITY;
}

/** Reads the details of an egress error. A parameter, because this package does not import egress. */
export type ReadNetworkError = (
  error: unknown,
) => { readonly code: ErrorCode; readonly requestSent: boolean } | undefined;

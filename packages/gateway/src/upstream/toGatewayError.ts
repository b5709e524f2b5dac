import type { ErrorCode } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { UpstreamError, type UpstreamErrorDetail, needsClientInput } from './upstreamError.ts';

/** Converts a failure to the error that callers receive. Text of the server is untrusted and is not repeated. */
export function toGatewayError(error: unknown, server: string): unknown {
  if (!(error instanceof UpstreamError)) return error;
  const { retryAfterMs } = error.detail;
  const reason = needsClientInput(error) ? 'input_required' : error.reason;
  const detail = explanations[reason]?.(server, error.detail);
  return new GatewayError(codeOverrides[reason] ?? error.code, {
    ...(detail !== undefined && { detail }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    cause: error,
  });
}

/** Codes for callers that differ from the code for the operator. */
const codeOverrides: Partial<Record<UpstreamError['reason'], ErrorCode>> = {
  input_required: 'MCP_DIALOGUE_UNSUPPORTED',
  // A mismatch between Behalf and the server. The caller cannot fix it.
  header_mismatch: 'MCP_FORM_REFUSED',
};

type Explain = (server: string, detail: UpstreamErrorDetail) => string;

/** Details that help more than the general message of the code. */
const explanations: Partial<Record<UpstreamError['reason'], Explain>> = {
  unauthorized: (server) =>
    `${server} refused the credential (401). Check the configured key, or sign in to the server again.`,
  forbidden: (server) => `${server} refused the request (403). The credential does not allow it.`,
  insufficient_scope: (server) => `${server} requires a wider scope than the credential has (403).`,
  wrong_url: (server, { status = 404 }) =>
    `${server} does not answer MCP at its address (${status}). Check url and type.`,
  redirected: (server, { status = 302, redirectedTo }) =>
    `${server} answered with a redirect${redirectedTo === undefined ? '' : ` to ${redirectedTo}`} that is not followed (${status}). Put the final address into url.`,
  session_lost: (server) =>
    `${server} lost the session, and lost a new session right after it was opened. Try again later.`,
  input_required: (server) =>
    `${server} requests input from the user during this request, and this client does not support it. Use a client that declares the required capability and reads event streams.`,
  too_many: (server) => `Too many connections to ${server} are in use. Try again when a call has ended.`,
};

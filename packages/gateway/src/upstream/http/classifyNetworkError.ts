import { UpstreamError, type ReadNetworkError, type UpstreamReason } from '../upstreamError.ts';

/** What became of a request whose answer did not come in. An error that nobody knows may have come after sending. */
export function classifyNetworkError(error: unknown, readError: ReadNetworkError): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const networkError = readError(error);
  const reason: UpstreamReason = !networkError
    ? 'reset'
    : networkError.requestSent
      ? (afterSending[networkError.code] ?? 'reset')
      : (beforeSending[networkError.code] ?? 'connect_failed');
  return new UpstreamError(reason, { cause: error });
}

const beforeSending: Readonly<Record<string, UpstreamReason>> = {
  MCP_DOMAIN_NOT_ALLOWED: 'not_allowed',
  MCP_TIMEOUT: 'connect_timeout',
  // A header or a body that HTTP cannot carry.
  MCP_PROTOCOL_ERROR: 'bad_request',
};

const afterSending: Readonly<Record<string, UpstreamReason>> = {
  // A redirect to where nothing may go; a redirect is no run.
  MCP_DOMAIN_NOT_ALLOWED: 'not_allowed',
  MCP_TIMEOUT: 'timeout',
  MCP_RESPONSE_TOO_LARGE: 'too_large',
  MCP_PROTOCOL_ERROR: 'invalid_response',
};

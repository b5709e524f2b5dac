import type { ErrorCode } from '@behalf/contracts';
import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';

/** What went wrong with a request to a server: by the type and code of the error, never by its text. */
export function classifyFailure(error: unknown, phase: 'connecting' | 'asking'): ErrorCode {
  // The server answered, and its answer is an error of the protocol: the tool did not run.
  if (ProtocolError.isInstance(error)) return 'MCP_PROTOCOL_ERROR';
  if (SdkError.isInstance(error)) {
    switch (error.code) {
      case SdkErrorCode.RequestTimeout:
        return 'MCP_TIMEOUT';
      case SdkErrorCode.ConnectionClosed:
        return phase === 'asking' ? 'MCP_OUTCOME_UNCERTAIN' : 'MCP_UNREACHABLE';
      case SdkErrorCode.InvalidResult:
      case SdkErrorCode.UnsupportedResultType:
        return 'MCP_PROTOCOL_ERROR';
      default:
        return 'MCP_UNREACHABLE';
    }
  }
  return 'MCP_UNREACHABLE';
}

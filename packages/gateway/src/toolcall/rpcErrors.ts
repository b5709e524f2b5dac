import type { ErrorCode } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { maskPresentedSecrets } from './maskSecrets.ts';
import type { PreparedTarget } from './obtainCredential.ts';

/** The server does not do what was asked at all: nothing a model could put right. */
const UNSUPPORTED_CODES = new Set([-32_700, -32_600, -32_601]);
const MAX_ERROR_TEXT_LENGTH = 4_096;

/**
 * A server that answers a call with an error of the protocol has judged it: unknown resource inside, wrong arguments,
 * failure while running. The model needs its words to do better, so they become a result, as a failed tool's do.
 */
export function toToolErrorResult(error: unknown, prepared: PreparedTarget): UpstreamResponse | undefined {
  if (!(error instanceof UpstreamError) || error.reason !== 'rpc_error') return undefined;
  const { rpc } = error.detail;
  if (!rpc || UNSUPPORTED_CODES.has(rpc.code)) return undefined;
  return {
    result: {
      content: [
        { type: 'text', text: maskPresentedSecrets(rpc.message, prepared).slice(0, MAX_ERROR_TEXT_LENGTH) },
      ],
      isError: true,
      _meta: { 'behalf/rpcError': { code: rpc.code } },
    },
    json: undefined,
  };
}

const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const RESOURCE_NOT_FOUND = -32_002;

/**
 * The same for what is read rather than run: there it means that the server does not have it, or nothing of its kind. A
 * tool that was listed is of a server that knows calls.
 */
export function toNotFoundError(error: unknown, code: ErrorCode): GatewayError | undefined {
  if (!(error instanceof UpstreamError) || error.reason !== 'rpc_error') return undefined;
  const rpcCode = error.detail.rpc?.code;
  if (rpcCode === METHOD_NOT_FOUND) return new GatewayError('MCP_METHOD_NOT_FOUND', { cause: error });
  return rpcCode === INVALID_PARAMS || rpcCode === RESOURCE_NOT_FOUND
    ? new GatewayError(code, {
        detail: 'The server does not have this item, or the arguments are invalid. Check both.',
        cause: error,
      })
    : undefined;
}

import type { ErrorCode } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { maskPresented } from './maskPresented.ts';
import type { Ready } from './obtainCredential.ts';

/** The server does not do what was asked at all: nothing a model could put right. */
const NOT_OFFERED = new Set([-32_700, -32_600, -32_601]);
const LONGEST_TEXT = 4_096;

/**
 * A server that answers a call with an error of the protocol has judged it: unknown resource inside, wrong arguments,
 * failure while running. The model needs its words to do better, so they become a result, as a failed tool's do.
 */
export function failedResult(error: unknown, ready: Ready): UpstreamResponse | undefined {
  if (!(error instanceof UpstreamError) || error.reason !== 'rpc_error') return undefined;
  const { rpc } = error.detail;
  if (!rpc || NOT_OFFERED.has(rpc.code)) return undefined;
  return {
    result: {
      content: [{ type: 'text', text: maskPresented(rpc.message, ready).slice(0, LONGEST_TEXT) }],
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
export function notFoundError(error: unknown, code: ErrorCode): GatewayError | undefined {
  if (!(error instanceof UpstreamError) || error.reason !== 'rpc_error') return undefined;
  const number = error.detail.rpc?.code;
  if (number === METHOD_NOT_FOUND) return new GatewayError('MCP_METHOD_NOT_FOUND', { cause: error });
  return number === INVALID_PARAMS || number === RESOURCE_NOT_FOUND
    ? new GatewayError(code, {
        detail: 'The server does not have it, or the arguments do not fit. Check both.',
        cause: error,
      })
    : undefined;
}

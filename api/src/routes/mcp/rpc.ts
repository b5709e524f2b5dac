import { jsonRpcNumber } from '@behalf/contracts';
import type { Era, GatewayError, JsonObject } from '@behalf/gateway';
import { isObject } from '@behalf/kernel';

export type RpcId = string | number;

export interface RpcRequest {
  readonly kind: 'request';
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

export interface RpcNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: JsonObject;
}

/** The response of a client to a request that a server sent through the gateway. */
export interface RpcResponse {
  readonly kind: 'response';
  readonly id: RpcId;
  readonly outcome:
    | { readonly result: JsonObject }
    | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

/** Reads the envelope of one message. Undefined if the value is none. The server validates the parameters. */
export function readRpcMessage(value: unknown): RpcMessage | undefined {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return undefined;
  const { id, method, params } = value;
  if (method === undefined) return isId(id) ? readResponse(id, value) : undefined;
  if (typeof method !== 'string' || (params !== undefined && !isObject(params))) return undefined;
  if (id === undefined) return { kind: 'notification', method, params: params ?? NO_PARAMS };
  return isId(id) ? { kind: 'request', id, method, params: params ?? NO_PARAMS } : undefined;
}

const NO_PARAMS: JsonObject = Object.freeze({});

function readResponse(id: RpcId, { result, error }: JsonObject): RpcResponse | undefined {
  if (isObject(result) && error === undefined) return { kind: 'response', id, outcome: { result } };
  if (!isObject(error) || result !== undefined) return undefined;
  const { code, message, data } = error;
  if (typeof code !== 'number' || typeof message !== 'string') return undefined;
  return {
    kind: 'response',
    id,
    outcome: { error: { code, message, ...(data !== undefined && { data }) } },
  };
}

/** The id of an invalid message, if it has one, so that the error names the request. */
export function readRpcId(value: unknown): RpcId | null {
  return isObject(value) && isId(value['id']) ? value['id'] : null;
}

/** JSON-RPC 2.0 section 4. A number out of range is parsed as `Infinity`, which a response cannot repeat in JSON. */
function isId(value: unknown): value is RpcId {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}

/** Error codes of JSON-RPC and MCP that the endpoint itself returns. */
export const rpcCode = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  resourceNotFound: -32_002,
  headerMismatch: -32_020,
  capabilityMissing: -32_021,
  versionUnsupported: -32_022,
  urlElicitation: -32_042,
} as const;

/** A JSON-RPC error, with the HTTP status of its response. The status is lost if the response stream has started. */
export class RpcFault extends Error {
  override readonly name = 'RpcFault';
  readonly code: number;
  readonly data: JsonObject | undefined;
  readonly status: number;

  constructor(
    code: number,
    message: string,
    { data, status = 200 }: { data?: JsonObject; status?: number } = {},
  ) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

/**
 * Maps a gateway error to JSON-RPC. MCP defines its own codes for missing resources and prompts, which differ between the eras.
 * `uri` is the address that the client requested.
 */
export function toRpcFault(error: GatewayError, era: Era, { uri }: JsonObject = {}): RpcFault {
  const { requiredCapabilities } = error;
  if (era === 'modern' && requiredCapabilities)
    return new RpcFault(rpcCode.capabilityMissing, error.detail, {
      data: { requiredCapabilities },
      status: 400,
    });
  const { code, detail, errors, retryAfterMs, approval, elicitations } = error;
  const data: JsonObject = {
    code,
    ...(errors !== undefined && { errors }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(approval !== undefined && { approval }),
    ...(elicitations !== undefined && { elicitations }),
    ...(code === 'MCP_RESOURCE_NOT_FOUND' && typeof uri === 'string' && { uri }),
  };
  return new RpcFault(protocolCode(code, era) ?? jsonRpcNumber(code), detail, { data });
}

function protocolCode(code: GatewayError['code'], era: Era): number | undefined {
  if (code === 'MCP_PROMPT_NOT_FOUND' || code === 'MCP_TASK_NOT_FOUND') return rpcCode.invalidParams;
  // The server sent an invalid form. MCP has no other code for a failure between gateway and server.
  if (code === 'MCP_FORM_REFUSED') return rpcCode.internal;
  // Only legacy clients with URL elicitation receive this error.
  if (code === 'MCP_URL_ELICITATION_REQUIRED') return rpcCode.urlElicitation;
  if (code !== 'MCP_RESOURCE_NOT_FOUND') return undefined;
  return era === 'modern' ? rpcCode.invalidParams : rpcCode.resourceNotFound;
}

export function rpcErrorText(id: RpcId | null, { code, message, data }: RpcFault): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } });
}

/** `result` is serialized JSON. */
export function rpcResultText(id: RpcId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** Invalid parameters of a method. The HTTP status is 200, as for every error of a method. */
export function invalidParams(message: string): RpcFault {
  return new RpcFault(rpcCode.invalidParams, message);
}

export function invalidRequest(message: string): RpcFault {
  return new RpcFault(rpcCode.invalidRequest, message, { status: 400 });
}

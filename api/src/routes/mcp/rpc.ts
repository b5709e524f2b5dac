import { jsonRpcNumber } from '@behalf/contracts';
import type { Era, GatewayError, JsonObject } from '@behalf/gateway';

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

/** What a client answers to a request of a server. */
export interface RpcResponse {
  readonly kind: 'response';
  readonly id: RpcId;
  readonly outcome:
    | { readonly result: JsonObject }
    | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

/** One message, or undefined for what is none. Nothing else is checked of what it carries: that is the server's affair. */
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

/** The id of something that is no message, where it has one: an error can still say what it is about. */
export function readRpcId(value: unknown): RpcId | null {
  return isObject(value) && isId(value['id']) ? value['id'] : null;
}

/** Fractions are not forbidden, and no client that we know sends them: one that loses digits would be answered to nobody. */
function isId(value: unknown): value is RpcId {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The numbers of JSON-RPC and of MCP that this door itself answers with. */
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

/** An error of the protocol, with the HTTP status that it comes with unless a stream has begun. */
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
 * What a client is told of an error of ours. For what is read, the protocol has numbers of its own: which ones differs
 * between the eras. `uri` is what the client itself asked for.
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
  // A fault between the server and us, which the protocol has no other number for towards a client.
  if (code === 'MCP_FORM_REFUSED') return rpcCode.internal;
  // Told to those alone who can be sent to an address, which is of the legacy era.
  if (code === 'MCP_URL_ELICITATION_REQUIRED') return rpcCode.urlElicitation;
  if (code !== 'MCP_RESOURCE_NOT_FOUND') return undefined;
  return era === 'modern' ? rpcCode.invalidParams : rpcCode.resourceNotFound;
}

export function rpcErrorText(id: RpcId | null, { code, message, data }: RpcFault): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } });
}

/** `result` is already text. */
export function rpcResultText(id: RpcId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

export function invalidRequest(message: string): RpcFault {
  return new RpcFault(rpcCode.invalidRequest, message, { status: 400 });
}

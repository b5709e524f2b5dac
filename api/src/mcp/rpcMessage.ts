import type { JsonObject } from '@behalf/gateway';

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

import { jsonRpcNumber } from '@behalf/contracts';
import type { Era, GatewayError, JsonObject } from '@behalf/gateway';
import type { RpcId } from './rpcMessage.ts';

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

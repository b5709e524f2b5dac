import { isObject } from '@behalf/kernel';
import { type JSONRPCMessage, SERVER_INFO_META_KEY } from '@modelcontextprotocol/client';
import type { Era, JsonObject, ServerClaims, UpstreamResponse } from './upstream.ts';
import { UpstreamError } from './upstreamError.ts';

/** A message of the server. Its fields are not validated. */
export interface JsonRpcMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/**
 * Fast path: extracts the text of `result` from a response to `id` that is written in one of the common forms, so that
 * it can be forwarded without serializing it again. Undefined if the text has another form or the extracted part is not
 * valid JSON.
 */
export function tryReadResponse(text: string, id: number, era: Era): UpstreamResponse | undefined {
  const json = extractResultText(text, `"id":${id}`);
  if (json === undefined) return undefined;
  let result: unknown;
  try {
    result = JSON.parse(json);
  } catch {
    return undefined;
  }
  return isObject(result) ? toResponse(result, json, era) : undefined;
}

function extractResultText(text: string, id: string): string | undefined {
  const first = `{"jsonrpc":"2.0",${id},"result":`;
  if (text.startsWith(first)) return text.endsWith('}') ? text.slice(first.length, -1) : undefined;
  const last = `,"jsonrpc":"2.0",${id}}`;
  if (text.startsWith('{"result":') && text.endsWith(last)) return text.slice(10, -last.length);
  const end = `,${id}}`;
  if (text.startsWith('{"jsonrpc":"2.0","result":') && text.endsWith(end)) return text.slice(26, -end.length);
  return undefined;
}

/** Parses a body or an event. Revision 2025-03-26 allows an array of messages. */
export function parseRpcMessages(text: string): readonly JsonRpcMessage[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UpstreamError('invalid_response', { cause });
  }
  const messages: unknown[] = Array.isArray(value) ? value : [value];
  if (messages.length === 0 || !messages.every(isObject)) throw new UpstreamError('invalid_response');
  return messages;
}

/** Reads a message as the response to `id`. Throws the error that it contains. */
export function readResponse(message: JsonRpcMessage, id: number, era: Era): UpstreamResponse {
  const { result, error } = message;
  if (message.id !== id || (result === undefined) === (error === undefined))
    throw new UpstreamError('invalid_response');
  if (error !== undefined) throw classifyRpcError(error, era);
  if (!isObject(result)) throw new UpstreamError('invalid_response');
  return toResponse(result, undefined, era);
}

/** A modern result without `resultType` counts as complete, like a legacy result. */
function toResponse(result: JsonObject, json: string | undefined, era: Era): UpstreamResponse {
  if (era === 'modern') {
    const kind = result['resultType'];
    if (kind === 'input_required') throw new UpstreamError('input_required', { result });
    if (kind === 'task') throw new UpstreamError('task', { result });
    if (kind !== undefined && kind !== 'complete') throw new UpstreamError('invalid_response');
  }
  return { kind: 'result', result, json };
}

type RpcError = NonNullable<UpstreamError['detail']['rpc']>;

function readRpcError(value: unknown): RpcError | undefined {
  if (!isObject(value) || typeof value['code'] !== 'number') return undefined;
  const { code, message, data } = value;
  return { code, message: typeof message === 'string' ? message : '', ...(data !== undefined && { data }) };
}

/**
 * -32042: a legacy server requires the user to open a URL. -32020 to -32022: a modern server rejects headers, protocol
 * version or capabilities.
 */
export function classifyRpcError(value: unknown, era: Era, status?: number): UpstreamError {
  const rpc = readRpcError(value);
  if (!rpc) return new UpstreamError('invalid_response');
  const detail = { rpc, ...(status !== undefined && { status }) };
  if (rpc.code === -32042) return new UpstreamError('input_required', detail);
  const isMismatch = era === 'modern' && rpc.code <= -32020 && rpc.code >= -32022;
  return new UpstreamError(isMismatch ? 'header_mismatch' : 'rpc_error', detail);
}

/** Reserved for keys that the gateway itself writes, such as `behalf/auth`. */
const GATEWAY_PREFIX = 'behalf/';

/**
 * Removes reserved `_meta` keys from a message of a server. Clients act on them: with a `behalf/auth` key a server could
 * send users to a sign-in page of its choice in the name of the gateway.
 */
export function stripGatewayMeta(message: JsonObject): JsonObject {
  const { _meta } = message;
  if (typeof _meta !== 'object' || _meta === null) return message;
  const serverMeta = stripGatewayKeys(_meta as JsonObject);
  return serverMeta === _meta ? message : { ...message, _meta: serverMeta };
}

/** Removes reserved keys. Returns the same object if there are none. */
export function stripGatewayKeys(members: JsonObject): JsonObject {
  const entries = Object.entries(members);
  const serverEntries = entries.filter(([key]) => !key.startsWith(GATEWAY_PREFIX));
  return serverEntries.length === entries.length ? members : Object.fromEntries(serverEntries);
}

/** Matches a reserved key in JSON text, also if some of its characters are escaped. */
const RESERVED_KEY_TEXT = /"behalf\\?\/[^"]*"\s*:|\\u00(?:2f|6[0-9a-f])/i;

/**
 * Removes reserved keys from a response and keeps its text if the text cannot contain one. A text can contain duplicate
 * members, of which `JSON.parse` sees only the last and another parser only the first. A text in which a reserved key may
 * be hidden is therefore dropped, and the adapter serializes the parsed result.
 */
export function stripResponseMeta(response: UpstreamResponse): UpstreamResponse {
  const result = stripGatewayMeta(response.result);
  if (result === response.result && !RESERVED_KEY_TEXT.test(response.json ?? '')) return response;
  return { kind: 'result', result, json: undefined };
}

export function objectOrEmpty(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Parses one message and checks the envelope only. The schemas of the SDK would traverse every field of a result. */
export function parseRpcMessage(text: string): JSONRPCMessage {
  const message: unknown = JSON.parse(text);
  if (!isObject(message) || message['jsonrpc'] !== '2.0') throw new SyntaxError('Not a JSON-RPC 2.0 message');
  return message as unknown as JSONRPCMessage;
}

const MAX_NAME_LENGTH = 256;
const MAX_INSTRUCTIONS_LENGTH = 32_768;
const MAX_CAPABILITIES_LENGTH = 65_536;

interface ReportedInfo {
  readonly serverInfo?: unknown;
  readonly capabilities?: unknown;
  readonly instructions?: unknown;
}

/** Reads what a server reports about itself. The size is limited, because every idle connection keeps it. */
export function readClaims(era: Era, protocolVersion: string, reported: ReportedInfo): ServerClaims {
  const info = objectOrEmpty(reported.serverInfo);
  const text = JSON.stringify(objectOrEmpty(reported.capabilities));
  if (text.length > MAX_CAPABILITIES_LENGTH) throw new UpstreamError('invalid_response');
  return {
    era,
    protocolVersion: truncate(protocolVersion, MAX_NAME_LENGTH) ?? '',
    name: truncate(info['name'], MAX_NAME_LENGTH) ?? '',
    version: truncate(info['version'], MAX_NAME_LENGTH) ?? '',
    instructions: truncate(reported.instructions, MAX_INSTRUCTIONS_LENGTH),
    capabilities: JSON.parse(text) as ServerClaims['capabilities'],
  };
}

export const MODERN_VERSION = '2026-07-28';

/** Reads the result of `server/discover`. Undefined if the server does not support the modern revision. */
export function readDiscovery(result: JsonObject): ServerClaims | undefined {
  const { supportedVersions, _meta } = result;
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) return undefined;
  const serverInfo = objectOrEmpty(_meta)[SERVER_INFO_META_KEY];
  return readClaims('modern', MODERN_VERSION, { ...result, serverInfo });
}

/** Copies the text: a substring would keep the whole original string in memory. */
function truncate(value: unknown, maxLength: number): string | undefined {
  return typeof value === 'string' ? Buffer.from(value.slice(0, maxLength)).toString() : undefined;
}

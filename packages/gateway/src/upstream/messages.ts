import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Era, JsonObject, ServerClaims, UpstreamResponse } from './upstream.ts';
import { UpstreamError } from './upstreamError.ts';

/** A message of the server; every field may be anything. */
export interface JsonRpcMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/**
 * The result as it stands in the text of an answer to `id`, when the text is written as servers write it. What is left
 * between the known beginning and the known end must be one JSON value, or the whole is not what it looks like.
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

/** The messages of a body or of an event. 2025-03-26 knows several in one array. */
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

/** Reads a message as the answer to `id`; throws what the server answered instead. */
export function readResponse(message: JsonRpcMessage, id: number, era: Era): UpstreamResponse {
  const { result, error } = message;
  if (message.id !== id || (result === undefined) === (error === undefined))
    throw new UpstreamError('invalid_response');
  if (error !== undefined) throw classifyRpcError(error, era);
  if (!isObject(result)) throw new UpstreamError('invalid_response');
  return toResponse(result, undefined, era);
}

/** A modern result says of what kind it is; one that does not is taken for a whole one, as legacy results are. */
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

/** -32042: legacy servers want a URL opened first. -32020 to -32022: modern ones do not take this form. */
export function classifyRpcError(value: unknown, era: Era, status?: number): UpstreamError {
  const rpc = readRpcError(value);
  if (!rpc) return new UpstreamError('invalid_response');
  const detail = { rpc, ...(status !== undefined && { status }) };
  if (rpc.code === -32042) return new UpstreamError('input_required', detail);
  const isMismatch = era === 'modern' && rpc.code <= -32020 && rpc.code >= -32022;
  return new UpstreamError(isMismatch ? 'header_mismatch' : 'rpc_error', detail);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectOrEmpty(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/**
 * Reads one message. Only the envelope is looked at, and by us: the schemas of the SDK would walk through every field
 * of a result, which is passed on as it came.
 */
export function parseRpcMessage(text: string): JSONRPCMessage {
  const message: unknown = JSON.parse(text);
  if (!isObject(message) || message['jsonrpc'] !== '2.0') throw new SyntaxError('Not a JSON-RPC 2.0 message');
  return message as unknown as JSONRPCMessage;
}

const MAX_NAME_LENGTH = 256;
const MAX_INSTRUCTIONS_LENGTH = 32_768;
const MAX_CAPABILITIES_LENGTH = 65_536;

interface ReportedInfo {
  readonly serverInfo: unknown;
  readonly capabilities: unknown;
  readonly instructions: unknown;
}

/** What a server says of itself, cut to a size that every idle connection can keep. */
export function readClaims(era: Era, protocolVersion: string, reported: ReportedInfo): ServerClaims {
  const info = isObject(reported.serverInfo) ? reported.serverInfo : {};
  const capabilities = isObject(reported.capabilities) ? reported.capabilities : {};
  const text = JSON.stringify(capabilities);
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

/** A copy: a part of a string keeps the whole of it in memory. */
function truncate(value: unknown, maxLength: number): string | undefined {
  return typeof value === 'string' ? Buffer.from(value.slice(0, maxLength)).toString() : undefined;
}

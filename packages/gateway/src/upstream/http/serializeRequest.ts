import { LruMap, isObject } from '@behalf/kernel';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/client';
import { MODERN_VERSION } from '../messages.ts';
import type { HeaderValues, JsonObject, UpstreamRequestOptions } from '../upstream.ts';

/** Declares the extension that issues the token of a bearer. */
export function withExtension<T extends object>(capabilities: T, extension: string | undefined): T {
  if (extension === undefined) return capabilities;
  const { extensions } = capabilities as { extensions?: unknown };
  return { ...capabilities, extensions: { ...(isObject(extensions) && extensions), [extension]: {} } };
}

/** The `_meta` of a modern request. Declares no capabilities: the server must not request input. */
export function createModernEnvelope(version: string, extension?: string): JsonObject {
  return {
    [PROTOCOL_VERSION_META_KEY]: MODERN_VERSION,
    [CLIENT_CAPABILITIES_META_KEY]: withExtension({}, extension),
    [CLIENT_INFO_META_KEY]: { name: 'behalf', version },
  };
}

/** Declares the capabilities of the caller of one request. */
export function withCapabilities(
  envelope: JsonObject,
  capabilities: JsonObject,
  extension?: string,
): JsonObject {
  if (extension === undefined && isEmpty(capabilities)) return envelope;
  return { ...envelope, [CLIENT_CAPABILITIES_META_KEY]: withExtension(capabilities, extension) };
}

interface RpcRequestFields {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
  /** `_meta` members of the caller. */
  readonly meta?: JsonObject | undefined;
  /** `_meta` members of the gateway. They take precedence. */
  readonly envelope?: JsonObject | undefined;
  /** Requests log messages from a modern server, at the given level or at `info`. */
  readonly requestedLogLevel?: boolean | string;
  /** The members of `envelope` as JSON text, if serialized before. */
  readonly envelopeText?: string | undefined;
}

/**
 * Serializes a request. The id also serves as the progress token. `_meta` is prepended to the parameters as text, so that
 * the parameters are serialized once and never copied.
 */
export function serializeRequest({
  id,
  method,
  params,
  meta,
  envelope,
  requestedLogLevel = false,
  envelopeText,
}: RpcRequestFields): string {
  const prefix = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":`;
  const paramsMeta = params['_meta'];
  if (paramsMeta === undefined && meta === undefined && envelope === undefined) {
    return `${prefix}${prependMeta(`{"progressToken":${id}}`, params)}}`;
  }
  if (
    envelopeText !== undefined &&
    paramsMeta === undefined &&
    meta === undefined &&
    requestedLogLevel === false
  )
    return `${prefix}${prependMeta(`{${envelopeText},"progressToken":${id}}`, params)}}`;
  const mergedMeta = {
    ...(requestedLogLevel &&
      envelope && { [LOG_LEVEL_META_KEY]: requestedLogLevel === true ? 'info' : requestedLogLevel }),
    ...(isObject(paramsMeta) && paramsMeta),
    ...meta,
    ...envelope,
    progressToken: id,
  };
  if (paramsMeta === undefined) return `${prefix}${prependMeta(JSON.stringify(mergedMeta), params)}}`;
  return `${prefix}${JSON.stringify({ ...params, _meta: mergedMeta })}}`;
}

function prependMeta(meta: string, params: JsonObject): string {
  const text = JSON.stringify(params);
  return text === '{}' ? `{"_meta":${meta}}` : `{"_meta":${meta},${text.slice(1)}`;
}

/** The JSON text of an object without its braces. */
export function serializeMembers(json: JsonObject): string {
  return JSON.stringify(json).slice(1, -1);
}

export function isEmpty(json: JsonObject): boolean {
  for (const _name in json) return false;
  return true;
}

/** Headers of every POST request (MCP 2025-11-25, transports). */
export const POST_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const;

type CallerHeaders = Pick<UpstreamRequestOptions, 'headers' | 'extraHeaders'>;

/**
 * Merges the headers of a request. Precedence, lowest first: configured headers, extra headers, the caller's credential,
 * protocol headers. An extra header therefore never replaces a credential.
 */
export function mergeRequestHeaders(
  configured: HeaderValues,
  caller: CallerHeaders,
  protocol: HeaderValues,
): HeaderValues {
  return { ...configured, ...caller.extraHeaders, ...caller.headers, ...protocol };
}

/** Caches the merged headers. The headers of a caller are the same object in every call. */
export function createHeaderCache(
  configured: HeaderValues,
  protocol: HeaderValues,
): (caller: CallerHeaders) => HeaderValues {
  let lastHeaders: HeaderValues | undefined;
  let merged = mergeRequestHeaders(configured, {}, protocol);
  return (caller) => {
    if (caller.extraHeaders !== undefined) return mergeRequestHeaders(configured, caller, protocol);
    if (caller.headers !== lastHeaders) {
      merged = mergeRequestHeaders(configured, caller, protocol);
      lastHeaders = caller.headers;
    }
    return merged;
  };
}

/** The parameter that `Mcp-Name` repeats (SEP-2243). */
const nameFields: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** Headers that repeat parts of the body, so that proxies can route a modern request without parsing it. */
export function createModernRequestHeaders(method: string, params: JsonObject): HeaderValues {
  const name = readMcpName(method, params);
  const headers: Record<string, string> = {
    ...POST_HEADERS,
    'mcp-protocol-version': MODERN_VERSION,
    'mcp-method': encodeHeaderValue(method),
  };
  if (name !== undefined) headers['mcp-name'] = encodeHeaderValue(name);
  return headers;
}

function readMcpName(method: string, params: JsonObject): string | undefined {
  const field = nameFields.get(method);
  const name = field === undefined ? undefined : params[field];
  return typeof name === 'string' ? name : undefined;
}

const PLAIN_HEADER_VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/** Encodes values that a header cannot carry, or that look encoded, as base64 of their UTF-8 bytes (SEP-2243). */
export function encodeHeaderValue(value: string): string {
  const isAmbiguous = value.startsWith('=?base64?') && value.endsWith('?=');
  if (PLAIN_HEADER_VALUE.test(value) && !isAmbiguous) return value;
  return `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

const MAX_CACHED_ENTRIES = 256;
/** Tool names are short. Longer names are URIs, which are rarely requested twice. */
const MAX_CACHED_NAME_LENGTH = 128;

/** Builds headers for a modern server. Caches protocol headers per tool, never headers of a caller. */
export function createModernHeaderCache(
  configuredHeaders: HeaderValues,
): (method: string, params: JsonObject, caller: CallerHeaders) => HeaderValues {
  const cache = new LruMap<string, HeaderValues>(MAX_CACHED_ENTRIES);
  return (method, params, caller) => {
    const name = readMcpName(method, params) ?? '';
    const key = `${method}\n${name}`;
    // `peek` instead of `get`: the order of use is not worth two map operations per call.
    let protocolHeaders = cache.peek(key);
    if (!protocolHeaders) {
      protocolHeaders = createModernRequestHeaders(method, params);
      if (name.length <= MAX_CACHED_NAME_LENGTH) cache.set(key, protocolHeaders);
    }
    return mergeRequestHeaders(configuredHeaders, caller, protocolHeaders);
  };
}

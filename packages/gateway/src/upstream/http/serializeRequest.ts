import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/client';
import { isObject } from '../messages.ts';
import type { HeaderValues, JsonObject, UpstreamRequestOptions } from '../upstream.ts';

/** What is claimed, and the extension by which a token is had, where it is by one. */
export function withExtension<T extends object>(capabilities: T, extension: string | undefined): T {
  if (extension === undefined) return capabilities;
  const { extensions } = capabilities as { extensions?: unknown };
  return { ...capabilities, extensions: { ...(isObject(extensions) && extensions), [extension]: {} } };
}

/** What every modern request says of us. It claims no capability: where nobody can be asked, nothing is asked for. */
export function createModernEnvelope(version: string, extension?: string): JsonObject {
  return {
    [PROTOCOL_VERSION_META_KEY]: MODERN_VERSION,
    [CLIENT_CAPABILITIES_META_KEY]: withExtension({}, extension),
    [CLIENT_INFO_META_KEY]: { name: 'behalf', version },
  };
}

/** The same with what this very caller can be asked. */
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
  /** What the caller adds to `_meta`. */
  readonly meta: JsonObject | undefined;
  /** What we say there ourselves; it wins. */
  readonly envelope: JsonObject | undefined;
  /** A modern server sends log messages only to who asks for them; a text is the level. */
  readonly requestedLogLevel: boolean | string;
  /** The members of `envelope` as text, where they were written before. */
  readonly envelopeText?: string | undefined;
}

/**
 * The body of a request. The id is also the progress token: it belongs to this request alone. `_meta` is put in front
 * of the parameters as text, so that they are written once and never copied.
 */
export function serializeRequest({
  id,
  method,
  params,
  meta,
  envelope,
  requestedLogLevel,
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

/** What stands between the braces. */
export function serializeMembers(json: JsonObject): string {
  return JSON.stringify(json).slice(1, -1);
}

function isEmpty(json: JsonObject): boolean {
  for (const _name in json) return false;
  return true;
}

type CallerHeaders = Pick<UpstreamRequestOptions, 'headers' | 'extraHeaders'>;

/**
 * The headers of one request, from this one place. The caller's credential wins over what is configured; an extra
 * header never replaces a credential; what the protocol says of the request nobody replaces.
 */
export function mergeRequestHeaders(
  configured: HeaderValues,
  caller: CallerHeaders,
  protocol: HeaderValues,
): HeaderValues {
  return { ...configured, ...caller.extraHeaders, ...caller.headers, ...protocol };
}

/** The same for requests that differ in nothing: a caller's headers are the same object call after call. */
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

export const MODERN_VERSION = '2026-07-28';

/** Which field of a request `Mcp-Name` repeats (SEP-2243). */
const nameFields: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** What a modern request repeats of its body, so that a proxy can route it without reading the body. */
export function createModernRequestHeaders(method: string, params: JsonObject): HeaderValues {
  const name = readMcpName(method, params);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': MODERN_VERSION,
    'mcp-method': encodeHeaderValue(method),
  };
  if (name !== undefined) headers['mcp-name'] = encodeHeaderValue(name);
  return headers;
}

/** What `Mcp-Name` says of this request. */
function readMcpName(method: string, params: JsonObject): string | undefined {
  const field = nameFields.get(method);
  const name = field === undefined ? undefined : params[field];
  return typeof name === 'string' ? name : undefined;
}

const PLAIN_HEADER_VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/** A value that a header cannot carry, or that looks like an encoded one, goes as base64 of its UTF-8. */
export function encodeHeaderValue(value: string): string {
  const isAmbiguous = value.startsWith('=?base64?') && value.endsWith('?=');
  if (PLAIN_HEADER_VALUE.test(value) && !isAmbiguous) return value;
  return `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

/** Tools that are called again and again; beyond this many the oldest is written anew. */
const MAX_CACHED_ENTRIES = 256;
/** A tool's name is short; an address may be anything, and is seldom read twice. */
const MAX_CACHED_NAME_LENGTH = 128;

/**
 * The headers of requests to one modern server. What repeats the body is the same for every call of a tool and is kept;
 * what a caller brings is not: all users have this conversation.
 */
export function createModernHeaderCache(
  configuredHeaders: HeaderValues,
): (method: string, params: JsonObject, caller: CallerHeaders) => HeaderValues {
  const cache = new Map<string, HeaderValues>();
  return (method, params, callerHeaders) => {
    const name = readMcpName(method, params) ?? '';
    if (name.length > MAX_CACHED_NAME_LENGTH)
      return mergeRequestHeaders(
        configuredHeaders,
        callerHeaders,
        createModernRequestHeaders(method, params),
      );
    const key = `${method}\n${name}`;
    let protocolHeaders = cache.get(key);
    if (!protocolHeaders) {
      protocolHeaders = createModernRequestHeaders(method, params);
      if (cache.size >= MAX_CACHED_ENTRIES) cache.delete(cache.keys().next().value as string);
      cache.set(key, protocolHeaders);
    }
    return mergeRequestHeaders(configuredHeaders, callerHeaders, protocolHeaders);
  };
}

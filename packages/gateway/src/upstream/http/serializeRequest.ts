import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/client';
import type { JsonObject } from '../upstream.ts';
import { MODERN_VERSION } from './modernHeaders.ts';
import { isObject } from './readResponse.ts';

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

export interface RpcRequestFields {
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

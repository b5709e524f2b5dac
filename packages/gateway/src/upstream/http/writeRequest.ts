import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/client';
import type { Json } from '../upstream.ts';
import { MODERN_VERSION } from './modernHeaders.ts';
import { isObject } from './readAnswer.ts';

/** What is claimed, and the extension by which a token is had, where it is by one. */
export function withExtension<T extends object>(capabilities: T, extension: string | undefined): T {
  if (extension === undefined) return capabilities;
  const { extensions } = capabilities as { extensions?: unknown };
  return { ...capabilities, extensions: { ...(isObject(extensions) && extensions), [extension]: {} } };
}

/** What every modern request says of us. It claims no capability: where nobody can be asked, nothing is asked for. */
export function modernEnvelope(version: string, extension?: string): Json {
  return {
    [PROTOCOL_VERSION_META_KEY]: MODERN_VERSION,
    [CLIENT_CAPABILITIES_META_KEY]: withExtension({}, extension),
    [CLIENT_INFO_META_KEY]: { name: 'behalf', version },
  };
}

/** The same with what this very caller can be asked. */
export function declaring(envelope: Json, capabilities: Json, extension?: string): Json {
  if (extension === undefined && isEmpty(capabilities)) return envelope;
  return { ...envelope, [CLIENT_CAPABILITIES_META_KEY]: withExtension(capabilities, extension) };
}

export interface RequestText {
  readonly id: number;
  readonly method: string;
  readonly params: Json;
  /** What the caller adds to `_meta`. */
  readonly meta: Json | undefined;
  /** What we say there ourselves; it wins. */
  readonly envelope: Json | undefined;
  /** A modern server sends log messages only to who asks for them; a text is the level. */
  readonly wantsLog: boolean | string;
  /** The members of `envelope` as text, where they were written before. */
  readonly said?: string | undefined;
}

/**
 * The body of a request. The id is also the progress token: it belongs to this request alone. `_meta` is put in front
 * of the parameters as text, so that they are written once and never copied.
 */
export function writeRequest({ id, method, params, meta, envelope, wantsLog, said }: RequestText): string {
  const head = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":`;
  const own = params['_meta'];
  if (own === undefined && meta === undefined && envelope === undefined) {
    return `${head}${inFront(`{"progressToken":${id}}`, params)}}`;
  }
  if (said !== undefined && own === undefined && meta === undefined && wantsLog === false)
    return `${head}${inFront(`{${said},"progressToken":${id}}`, params)}}`;
  const merged = {
    ...(wantsLog && envelope && { [LOG_LEVEL_META_KEY]: wantsLog === true ? 'info' : wantsLog }),
    ...(isObject(own) && own),
    ...meta,
    ...envelope,
    progressToken: id,
  };
  if (own === undefined) return `${head}${inFront(JSON.stringify(merged), params)}}`;
  return `${head}${JSON.stringify({ ...params, _meta: merged })}}`;
}

function inFront(meta: string, params: Json): string {
  const text = JSON.stringify(params);
  return text === '{}' ? `{"_meta":${meta}}` : `{"_meta":${meta},${text.slice(1)}`;
}

/** What stands between the braces. */
export function membersText(json: Json): string {
  return JSON.stringify(json).slice(1, -1);
}

function isEmpty(json: Json): boolean {
  for (const _name in json) return false;
  return true;
}

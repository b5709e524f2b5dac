import type { HeaderValues, JsonObject } from '../upstream.ts';
import { modernHeaders, readMcpName } from './modernHeaders.ts';
import { mergeRequestHeaders, type CallerHeaders } from './requestHeaders.ts';

/** Tools that are called again and again; beyond this many the oldest is written anew. */
const MAX_CACHED = 256;
/** A tool's name is short; an address may be anything, and is seldom read twice. */
const MAX_CACHED_NAME_LENGTH = 128;

/**
 * The headers of requests to one modern server. What repeats the body is the same for every call of a tool and is kept;
 * what a caller brings is not: all users have this conversation.
 */
export function createModernHeaderCache(
  configured: HeaderValues,
): (method: string, params: JsonObject, caller: CallerHeaders) => HeaderValues {
  const cache = new Map<string, HeaderValues>();
  return (method, params, caller) => {
    const name = readMcpName(method, params) ?? '';
    if (name.length > MAX_CACHED_NAME_LENGTH)
      return mergeRequestHeaders(configured, caller, modernHeaders(method, params));
    const key = `${method}\n${name}`;
    let protocol = cache.get(key);
    if (!protocol) {
      protocol = modernHeaders(method, params);
      if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value as string);
      cache.set(key, protocol);
    }
    return mergeRequestHeaders(configured, caller, protocol);
  };
}

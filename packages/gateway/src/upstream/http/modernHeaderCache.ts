import type { HeaderValues, JsonObject } from '../upstream.ts';
import { createModernRequestHeaders, readMcpName } from './modernHeaders.ts';
import { mergeRequestHeaders, type CallerHeaders } from './requestHeaders.ts';

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

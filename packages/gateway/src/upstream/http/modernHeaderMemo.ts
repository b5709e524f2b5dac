import type { HeaderValues, Json } from '../upstream.ts';
import { modernHeaders, namedBy } from './modernHeaders.ts';
import { requestHeaders, type Given } from './requestHeaders.ts';

/** Tools that are called again and again; beyond this many the oldest is written anew. */
const MOST_KNOWN = 256;
/** A tool's name is short; an address may be anything, and is seldom read twice. */
const LONGEST_KNOWN = 128;

/**
 * The headers of requests to one modern server. What repeats the body is the same for every call of a tool and is kept;
 * what a caller brings is not: all users have this conversation.
 */
export function createModernHeaderMemo(
  configured: HeaderValues,
): (method: string, params: Json, given: Given) => HeaderValues {
  const known = new Map<string, HeaderValues>();
  return (method, params, given) => {
    const name = namedBy(method, params) ?? '';
    if (name.length > LONGEST_KNOWN) return requestHeaders(configured, given, modernHeaders(method, params));
    const key = `${method}\n${name}`;
    let protocol = known.get(key);
    if (!protocol) {
      protocol = modernHeaders(method, params);
      if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value as string);
      known.set(key, protocol);
    }
    return requestHeaders(configured, given, protocol);
  };
}

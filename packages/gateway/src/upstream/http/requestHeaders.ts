import type { HeaderValues, RequestOptions } from '../upstream.ts';

export type Given = Pick<RequestOptions, 'headers' | 'extraHeaders'>;

/**
 * The headers of one request, from this one place. The caller's credential wins over what is configured; an extra
 * header never replaces a credential; what the protocol says of the request nobody replaces.
 */
export function requestHeaders(configured: HeaderValues, given: Given, protocol: HeaderValues): HeaderValues {
  return { ...configured, ...given.extraHeaders, ...given.headers, ...protocol };
}

/** The same for requests that differ in nothing: a caller's headers are the same object call after call. */
export function createHeaderMemo(
  configured: HeaderValues,
  protocol: HeaderValues,
): (given: Given) => HeaderValues {
  let last: HeaderValues | undefined;
  let merged = requestHeaders(configured, {}, protocol);
  return (given) => {
    if (given.extraHeaders !== undefined) return requestHeaders(configured, given, protocol);
    if (given.headers !== last) {
      merged = requestHeaders(configured, given, protocol);
      last = given.headers;
    }
    return merged;
  };
}

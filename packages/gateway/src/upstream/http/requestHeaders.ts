import type { HeaderValues, UpstreamRequestOptions } from '../upstream.ts';

export type CallerHeaders = Pick<UpstreamRequestOptions, 'headers' | 'extraHeaders'>;

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

import type { Fetch } from '@behalf/kernel';
import type { EgressResponse } from './egressResponse.ts';
import { readDestination } from './destination.ts';
import type { GuardedRequest } from './guardedRequest.ts';
import { GuardedResponse } from './guardedResponse.ts';
import { readRequestBody } from './requestBody.ts';
import { readRequestHeaders } from './requestHeaders.ts';

/** A WHATWG-shaped fetch that goes through the guard: see createEgress. */
export function createGuardedFetch(request: GuardedRequest): Fetch {
  return async (input, init = {}) => {
    const destination = readDestination(input);
    const { flatHeaders, hop, hasContentType } = readRequestHeaders(destination.host, init.headers);
    const requestBody = readRequestBody(init.body);
    const { content, contentType } = requestBody instanceof Promise ? await requestBody : requestBody;
    const { response, finalDestination, isRedirected, hasNoBody } = await request({
      destination,
      method: (init.method ?? 'GET').toUpperCase(),
      headers:
        hasContentType || contentType === undefined
          ? flatHeaders
          : [...flatHeaders, 'content-type', contentType],
      hop,
      body: content,
      signal: init.signal,
      redirect: init.redirect ?? 'follow',
    });
    const { status, statusText } = response;
    const head = {
      status,
      statusText,
      headers: toHeaders(response.headers),
      url: withoutFragment(finalDestination.url),
      redirected: isRedirected,
    };
    return new GuardedResponse(head, hasNoBody ? null : response);
  };
}

function toHeaders(source: EgressResponse['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(source)) {
    if (typeof value === 'string') headers.append(name, value);
    else for (const item of value ?? []) headers.append(name, item);
  }
  return headers;
}

function withoutFragment(url: URL): string {
  return url.hash === '' ? url.href : url.href.slice(0, -url.hash.length);
}

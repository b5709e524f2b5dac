import type { Fetch } from '@behalf/kernel';
import type { Answer } from './answer.ts';
import { readDestination } from './destination.ts';
import type { GuardedRequest } from './guardedRequest.ts';
import { GuardedResponse } from './guardedResponse.ts';
import { readRequestBody } from './requestBody.ts';
import { readRequestHeaders } from './requestHeaders.ts';

/** A WHATWG-shaped fetch that goes through the guard: see createEgress. */
export function createGuardedFetch(request: GuardedRequest): Fetch {
  return async (input, init = {}) => {
    const to = readDestination(input);
    const { flat, hop, hasContentType } = readRequestHeaders(to.host, init.headers);
    const encoded = readRequestBody(init.body);
    const { content, contentType } = encoded instanceof Promise ? await encoded : encoded;
    const { answer, from, redirected, bodiless } = await request({
      to,
      method: (init.method ?? 'GET').toUpperCase(),
      headers: hasContentType || contentType === undefined ? flat : [...flat, 'content-type', contentType],
      hop,
      body: content,
      signal: init.signal,
      redirect: init.redirect ?? 'follow',
    });
    const { status, statusText } = answer;
    const head = {
      status,
      statusText,
      headers: toHeaders(answer.headers),
      url: withoutFragment(from.url),
      redirected,
    };
    return new GuardedResponse(head, bodiless ? null : answer);
  };
}

function toHeaders(source: Answer['headers']): Headers {
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

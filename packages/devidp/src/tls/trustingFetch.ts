import { request as plainRequest, type IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { Readable } from 'node:stream';

type Fetch = typeof globalThis.fetch;

/**
 * `fetch` that trusts one authority more, for tests and demos: the global one trusts what the process was started with.
 * Redirects are the caller's business.
 */
export function createTrustingFetch(caPem: string | undefined): Fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
    const response = await send(url, request, body, caPem);
    const headers = new Headers();
    for (let index = 0; index < response.rawHeaders.length; index += 2) {
      headers.append(response.rawHeaders[index] ?? '', response.rawHeaders[index + 1] ?? '');
    }
    const status = response.statusCode ?? 0;
    if (status === 204 || status === 304) {
      response.resume();
      return new Response(null, { status, headers });
    }
    return new Response(Readable.toWeb(response) as ReadableStream, { status, headers });
  };
}

function send(url: URL, request: Request, body: Buffer | undefined, ca: string | undefined) {
  const { method, signal } = request;
  // Known beforehand: a body in chunks is one that not every server reads.
  const headers = { ...Object.fromEntries(request.headers), ...(body && { 'content-length': body.length }) };
  const startRequest = url.protocol === 'https:' ? tlsRequest : plainRequest;
  return new Promise<IncomingMessage>((resolve, reject) => {
    startRequest(url, { method, headers, signal, agent: false, ...(ca !== undefined && { ca }) }, resolve)
      .once('error', (error) => reject(new TypeError('fetch failed', { cause: error })))
      .end(body);
  });
}

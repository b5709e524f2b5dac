import type { Fetch } from '@behalf/kernel';
import type { EgressResponse } from './egressResponse.ts';
import { type GuardedRequest, readRequestHeaders } from './guardedRequest.ts';
import { readDestination } from './target.ts';

/** A fetch with the WHATWG interface that applies the egress policy. See `createEgress`. */
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

/** A body that a redirect can send again. */
interface RequestBody {
  readonly content: string | Uint8Array | null;
  readonly contentType: string | undefined;
}

const NO_BODY: RequestBody = { content: null, contentType: undefined };

/**
 * Strings and bytes are used as they are. Forms, blobs and streams are buffered, because 307 and 308 send the body
 * again.
 */
function readRequestBody(body: RequestInit['body']): RequestBody | Promise<RequestBody> {
  if (body === undefined || body === null) return NO_BODY;
  if (typeof body === 'string') return { content: body, contentType: 'text/plain;charset=UTF-8' };
  if (body instanceof URLSearchParams) {
    return { content: body.toString(), contentType: 'application/x-www-form-urlencoded;charset=UTF-8' };
  }
  if (body instanceof Uint8Array) return { content: body, contentType: undefined };
  return encodeBody(body);
}

async function encodeBody(body: NonNullable<RequestInit['body']>): Promise<RequestBody> {
  const encoded = new Response(body);
  const content = new Uint8Array(await encoded.arrayBuffer());
  return { content, contentType: encoded.headers.get('content-type') ?? undefined };
}

type ResponseBody = Pick<EgressResponse, 'readAll' | 'readChunk' | 'cancel'>;

interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly url: string;
  readonly redirected: boolean;
}

/**
 * A WHATWG Response without the overhead of the platform's class: most responses are read once as a whole and never
 * need a stream. The stream is created on first access; `clone` uses the platform's class.
 */
class GuardedResponse implements Response {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly url: string;
  readonly redirected: boolean;
  readonly type = 'default';
  #source: ResponseBody | null;
  #stream: ReadableStream<Uint8Array> | null = null;
  #isBodyUsed = false;

  constructor(head: ResponseHead, body: ResponseBody | null) {
    this.status = head.status;
    this.statusText = head.statusText;
    this.headers = head.headers;
    this.url = head.url;
    this.redirected = head.redirected;
    this.#source = body;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get bodyUsed(): boolean {
    return this.#isBodyUsed;
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (this.#stream === null && this.#source !== null) {
      this.#stream = toStream(this.#source);
      this.#source = null;
    }
    return this.#stream;
  }

  /** Libraries recognize a Response of another realm by its tag. */
  get [Symbol.toStringTag](): string {
    return 'Response';
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.#read());
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown;
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.#read());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer;
  }

  async blob(): Promise<Blob> {
    return new Blob([await this.bytes()], { type: this.headers.get('content-type') ?? '' });
  }

  async formData(): Promise<FormData> {
    // No caller needs it, and a multipart parser would add attack surface.
    return Promise.reject(new TypeError('Reading a response as form data is not supported'));
  }

  clone(): Response {
    const { body, status, statusText, headers } = this;
    if (this.#isBodyUsed || body?.locked === true) throw new TypeError('The body has been read already');
    if (body === null) return new GuardedResponse(this, null);
    const [ownStream, cloneStream] = body.tee();
    this.#stream = ownStream;
    return new Response(cloneStream, { status, statusText, headers });
  }

  async #read(): Promise<Uint8Array> {
    if (this.#isBodyUsed || this.#stream?.locked === true)
      throw new TypeError('The body has been read already');
    const source = this.#source;
    const stream = this.#stream;
    if (source === null && stream === null) return new Uint8Array();
    this.#isBodyUsed = true;
    if (source !== null) {
      this.#source = null;
      return source.readAll();
    }
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
}

/** Reads one chunk at a time, so that a slow reader causes backpressure instead of buffering. */
function toStream(body: ResponseBody): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await body.readChunk();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: () => body.cancel(),
  });
}

import type { EgressResponse } from './egressResponse.ts';

type ResponseBody = Pick<EgressResponse, 'readAll' | 'readChunk' | 'cancel'>;

interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly url: string;
  readonly redirected: boolean;
}

/**
 * A WHATWG Response without the platform's machinery: most answers are read whole, once, and never need a stream.
 * The stream is made when somebody asks for it; `clone` falls back to the platform's own class.
 */
export class GuardedResponse implements Response {
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

  /** Libraries recognise a Response of another realm by its tag. */
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
    // Part of the interface that no caller needs: a multipart parser would be attack surface for nothing.
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

/** Pulls one piece at a time, so that a slow reader slows the server and not the heap. */
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

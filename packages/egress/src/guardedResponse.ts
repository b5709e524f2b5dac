import type { Answer } from './answer.ts';

type Body = Pick<Answer, 'bytes' | 'next' | 'cancel'>;

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
  #source: Body | null;
  #stream: ReadableStream<Uint8Array> | null = null;
  #used = false;

  constructor(head: ResponseHead, body: Body | null) {
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
    return this.#used;
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (this.#stream === null && this.#source !== null) {
      this.#stream = streamOf(this.#source);
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
    return Promise.reject(new TypeError('A form is not read from a response'));
  }

  clone(): Response {
    const { body, status, statusText, headers } = this;
    if (this.#used || body?.locked === true) throw new TypeError('The body has been read already');
    if (body === null) return new GuardedResponse(this, null);
    const [ours, theirs] = body.tee();
    this.#stream = ours;
    return new Response(theirs, { status, statusText, headers });
  }

  async #read(): Promise<Uint8Array> {
    if (this.#used || this.#stream?.locked === true) throw new TypeError('The body has been read already');
    const source = this.#source;
    const stream = this.#stream;
    if (source === null && stream === null) return new Uint8Array();
    this.#used = true;
    if (source !== null) {
      this.#source = null;
      return source.bytes();
    }
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
}

/** Pulls one piece at a time, so that a slow reader slows the server and not the heap. */
function streamOf(body: Body): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await body.next();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: () => body.cancel(),
  });
}

import { reservedHeaders } from '@behalf/contracts';
import type { Send, SendResponse, SendRequest } from '@behalf/kernel';
import type { EgressResponse } from './egressResponse.ts';
import type { ResolveDestination } from './target.ts';
import { type GuardedRequest, HOP_HEADER, type InboundResponse } from './guardedRequest.ts';

/** Implements `Send`: the same guards as fetch, without WHATWG objects. */
export function createGuardedSend(request: GuardedRequest, resolveDestination: ResolveDestination): Send {
  return async ({ method, url, headers, body, signal }) =>
    new GuardedSendResponse(
      await request({
        destination: resolveDestination(url),
        method,
        headers: flatten(headers),
        hop: headers[HOP_HEADER],
        body: body ?? null,
        signal,
        redirect: 'follow',
      }),
    );
}

/** The HTTP client validates names and values and throws before it sends anything. */
function flatten(headers: SendRequest['headers']): string[] {
  const flat: string[] = [];
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase();
    if (!reservedHeaders.has(lower)) flat.push(lower, headers[name] ?? '');
  }
  return flat;
}

class GuardedSendResponse implements SendResponse {
  readonly status: number;
  readonly isEventStream: boolean;
  readonly #response: EgressResponse;
  readonly #hasNoBody: boolean;
  #isBodyUsed = false;

  constructor({ response, hasNoBody }: InboundResponse) {
    this.#response = response;
    this.#hasNoBody = hasNoBody;
    this.status = response.status;
    this.isEventStream = response.isEventStreamBody;
  }

  header(name: string): string | undefined {
    return this.#response.header(name);
  }

  async text(): Promise<string> {
    this.#use();
    if (this.#hasNoBody) return '';
    const text = (await this.#response.readAll()).toString('utf8');
    // A byte order mark is not part of the text ("UTF-8 decode" of the Encoding standard).
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }

  chunks(): AsyncIterable<Uint8Array> {
    this.#use();
    return this.#hasNoBody ? emptyChunks() : readChunks(this.#response);
  }

  discard(): Promise<void> {
    this.#use();
    return this.#response.discard();
  }

  #use(): void {
    if (this.#isBodyUsed) throw new TypeError('The body has been read already');
    this.#isBodyUsed = true;
  }
}

async function* emptyChunks(): AsyncGenerator<Uint8Array> {
  // No chunks.
}

/** Reads one chunk at a time, so that a slow reader causes backpressure instead of buffering. */
async function* readChunks(response: EgressResponse): AsyncGenerator<Uint8Array> {
  try {
    for (let chunk = await response.readChunk(); chunk !== undefined; chunk = await response.readChunk())
      yield chunk;
  } finally {
    response.cancel();
  }
}

import { reservedHeaders } from '@behalf/contracts';
import type { Send, SendResponse, SendRequest } from '@behalf/kernel';
import type { EgressResponse } from './egressResponse.ts';
import type { ResolveDestination } from './target.ts';
import { type GuardedRequest, HOP_HEADER, type InboundResponse } from './guardedRequest.ts';

/** The same door without WHATWG objects: see `Send`. */
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

/** Names and values are checked by the HTTP client, which throws before anything is written. */
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
    // A byte order mark is no part of the text (as in the Encoding standard's "UTF-8 decode").
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
  // Nothing follows such a status.
}

/** Asks for one piece at a time, so that a slow reader slows the server and not the heap. */
async function* readChunks(response: EgressResponse): AsyncGenerator<Uint8Array> {
  try {
    for (let chunk = await response.readChunk(); chunk !== undefined; chunk = await response.readChunk())
      yield chunk;
  } finally {
    response.cancel();
  }
}

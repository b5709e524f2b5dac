import { reservedHeaders } from '@behalf/contracts';
import type { Send, SendReply, SendRequest } from '@behalf/kernel';
import type { Answer } from './answer.ts';
import type { Destinations } from './destination.ts';
import type { GuardedRequest, Incoming } from './guardedRequest.ts';
import { HOP_HEADER } from './hop.ts';

/** The same door without WHATWG objects: see `Send`. */
export function createGuardedSend(request: GuardedRequest, destinations: Destinations): Send {
  return async ({ method, url, headers, body, signal }) =>
    new Reply(
      await request({
        to: destinations(url),
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

class Reply implements SendReply {
  readonly status: number;
  readonly isEventStream: boolean;
  readonly #answer: Answer;
  readonly #bodiless: boolean;
  #used = false;

  constructor({ answer, bodiless }: Incoming) {
    this.#answer = answer;
    this.#bodiless = bodiless;
    this.status = answer.status;
    this.isEventStream = answer.stream;
  }

  header(name: string): string | undefined {
    return this.#answer.header(name);
  }

  async text(): Promise<string> {
    this.#use();
    if (this.#bodiless) return '';
    const text = (await this.#answer.bytes()).toString('utf8');
    // A byte order mark is no part of the text (as in the Encoding standard's "UTF-8 decode").
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }

  chunks(): AsyncIterable<Uint8Array> {
    this.#use();
    return this.#bodiless ? none() : pieces(this.#answer);
  }

  discard(): Promise<void> {
    this.#use();
    return this.#answer.discard();
  }

  #use(): void {
    if (this.#used) throw new TypeError('The body has been read already');
    this.#used = true;
  }
}

async function* none(): AsyncGenerator<Uint8Array> {
  // Nothing follows such a status.
}

/** Asks for one piece at a time, so that a slow reader slows the server and not the heap. */
async function* pieces(answer: Answer): AsyncGenerator<Uint8Array> {
  try {
    for (let chunk = await answer.next(); chunk !== undefined; chunk = await answer.next()) yield chunk;
  } finally {
    answer.cancel();
  }
}

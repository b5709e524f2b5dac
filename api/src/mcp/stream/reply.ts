import type { ServerResponse } from 'node:http';
import type { Json } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import type { HotExchange } from '../../http.ts';
import type { Place } from '../session/mailbox.ts';
import type { RpcId } from '../message.ts';
import { createMessageStream, type MessageStream } from './messageStream.ts';
import type { Replay, Replays } from './replays.ts';

/** The answer to one request: plain JSON, unless something has to be said before it. */
export interface Reply {
  /** Whether something was sent: then there is no status any more. */
  readonly begun: boolean;
  /** A client that does not listen, or does not keep up, misses these. */
  notify(method: string, params: Json): void;
  /** Sends a request to the client. False when it cannot be sent: the client takes no events. */
  ask(id: RpcId, method: string, params: Json): boolean;
  /** The last word: `text` is the whole message. */
  finish(text: string, status: number): void;
  /** Ends without one: nobody waits for it. */
  abandon(): void;
  /** Leaves the answer to somebody else. */
  close(): void;
}

export interface ReplyParts {
  readonly clock: Clock;
  /** Of every answer, as a flat list. */
  readonly headers: readonly string[];
  readonly replays: Pick<Replays, 'begin'>;
}

export interface ReplyOptions {
  /** Legacy: what was sent is kept for a client that comes back. */
  readonly place: Place | undefined;
  /** The revision has events without content: they say where a stream can be taken up again. */
  readonly primes: boolean;
}

/** A call that takes longer than this can be taken up again by its client. */
const PRIME_AFTER_MS = 3_000;

export function createReply(
  exchange: Pick<HotExchange, 'req' | 'res' | 'json'>,
  { clock, headers, replays }: ReplyParts,
  { place, primes }: ReplyOptions,
): Reply {
  const { req, res, json } = exchange;
  if (!wantsEvents(req.headers.accept)) return plainReply(exchange);
  const stream: MessageStream = createMessageStream(res, { clock, headers });
  let replay: Replay | undefined;
  const resumable = () => (replay ??= place && replays.begin(place, stream));
  const unprime =
    place && primes ? clock.timer(PRIME_AFTER_MS, () => void (stream.open && resumable()?.prime())) : nothing;

  function say(text: string): void {
    const kept = resumable();
    if (kept) kept.emit(text);
    else stream.hint(text);
  }

  return {
    get begun() {
      return stream.begun;
    },
    notify: (method, params) => say(JSON.stringify({ jsonrpc: '2.0', method, params })),
    ask(id, method, params) {
      const text = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      const kept = resumable();
      if (kept) kept.emit(text);
      else stream.send(text);
      return true;
    },
    finish(text, status) {
      unprime();
      if (replay) {
        stream.close();
        replay.finish(text);
      } else if (stream.begun) {
        stream.send(text);
        stream.end();
      } else {
        stream.close();
        if (stream.open) json(status, text);
      }
    },
    abandon() {
      unprime();
      // A client that has left is told nothing; one that cancelled reads the end of a stream without an answer.
      if (stream.open) stream.begin();
      stream.end();
    },
    close() {
      unprime();
      stream.close();
    },
  };
}

/** For who takes no events. */
function plainReply({ res, json }: Pick<HotExchange, 'res' | 'json'>): Reply {
  return {
    begun: false,
    notify: nothing,
    ask: () => false,
    finish(text, status) {
      if (!res.destroyed) json(status, text);
    },
    abandon: () => void res.destroy(),
    close: nothing,
  };
}

/** The answer to what asks for none. */
export function accepted(res: ServerResponse, headers: readonly string[], status: 202 | 204 = 202): void {
  res.writeHead(status, [...headers, ...(status === 202 ? ['Content-Length', '0'] : [])]).end();
}

export function wantsEvents(accept: string | undefined): boolean {
  return accept !== undefined && /(^|,)\s*(text\/event-stream|text\/\*|\*\/\*)\s*(;|,|$)/i.test(accept);
}

function nothing(): void {
  // There is nobody to tell.
}

import { sleep, type SendReply } from '@behalf/kernel';
import { sendPresenting } from '../bearerHeaders.ts';
import type { ConverseParts, Outgoing } from './converse.ts';
import type { Waiting } from './patience.ts';
import type { SseParser } from './sseParser.ts';

/** A server that closes every two seconds is followed for as long as a call with people in it may last. */
const MOST_RESUMES = 300;
/** In a row. */
const MOST_FAILED = 3;
const WAIT_MS = 1_000;
const SHORTEST_WAIT_MS = 100;
/** It is sent back in a header. */
const LONGEST_ID = 1_024;

/** Where the stream of one request stands. */
export interface Place {
  readonly lastEventId: string;
  readonly waitMs: number;
  /** Once more; false when it has been often enough. */
  count(): boolean;
  at(parser: SseParser): void;
}

export function createPlace(): Place {
  let lastEventId = '';
  let retryMs = WAIT_MS;
  let resumes = 0;
  return {
    get lastEventId() {
      return lastEventId;
    },
    get waitMs() {
      return Math.max(retryMs, SHORTEST_WAIT_MS);
    },
    count: () => (resumes += 1) <= MOST_RESUMES,
    at(parser) {
      if (parser.lastEventId !== '') lastEventId = parser.lastEventId;
      retryMs = parser.retryMs ?? retryMs;
    },
  };
}

/**
 * What follows on a stream that ended before the answer came: a server may close it while it works on, and a legacy one
 * that numbers its events keeps the rest (2025-11-25, transports: resumability; SEP-1699). Undefined: there is no more.
 * The request ran or may have run, so that nothing here is ever a reason to send it again, neither a lost session nor a
 * token that is not to be had: the stream is broken, and no more is known.
 */
export async function resumeStream(
  { send, clock }: Pick<ConverseParts, 'send' | 'clock'>,
  { era, url, headers: posted, bearer }: Pick<Outgoing, 'era' | 'url' | 'headers' | 'bearer'>,
  { signal }: Pick<Waiting, 'signal'>,
  place: Place,
): Promise<SendReply | undefined> {
  const { lastEventId, waitMs } = place;
  if (era !== 'legacy' || lastEventId === '' || lastEventId.length > LONGEST_ID) return undefined;
  const { 'content-type': _type, ...same } = posted;
  const headers = { ...same, accept: 'text/event-stream', 'last-event-id': lastEventId };
  for (let failed = 0; failed < MOST_FAILED && place.count(); failed += 1) {
    try {
      await sleep(clock, waitMs, signal);
      const reply = await sendPresenting(send, { method: 'GET', url, headers, signal }, bearer);
      if (reply.status === 200 && reply.isEventStream) return reply;
      void reply.discard();
      if (!isPassing(reply.status)) return undefined;
    } catch {
      if (signal.aborted) return undefined;
    }
  }
  return undefined;
}

/** A server may not have noticed yet that the stream before ended. */
function isPassing(status: number): boolean {
  return status === 409 || status === 429 || status >= 500;
}

import { sleep, type SendResponse } from '@behalf/kernel';
import { sendWithCredential } from '../bearerHeaders.ts';
import type { RpcParts, UpstreamRpc } from './sendRpc.ts';
import type { RequestDeadline } from './withDeadline.ts';
import type { SseParser } from './sseParser.ts';

/** A server that closes every two seconds is followed for as long as a call with people in it may last. */
const MAX_RESUMES = 300;
/** In a row. */
const MAX_CONSECUTIVE_FAILURES = 3;
const DEFAULT_RETRY_MS = 1_000;
const MIN_RETRY_MS = 100;
/** It is sent back in a header. */
const MAX_EVENT_ID_LENGTH = 1_024;

/** Where the stream of one request stands. */
export interface StreamPosition {
  readonly lastEventId: string;
  readonly retryDelayMs: number;
  /** Once more; false when it has been often enough. */
  countResume(): boolean;
  update(parser: SseParser): void;
}

export function createStreamPosition(): StreamPosition {
  let lastEventId = '';
  let retryMs = DEFAULT_RETRY_MS;
  let resumes = 0;
  return {
    get lastEventId() {
      return lastEventId;
    },
    get retryDelayMs() {
      return Math.max(retryMs, MIN_RETRY_MS);
    },
    countResume: () => (resumes += 1) <= MAX_RESUMES,
    update(parser) {
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
  { send, clock }: Pick<RpcParts, 'send' | 'clock'>,
  { era, url, headers: postHeaders, bearer }: Pick<UpstreamRpc, 'era' | 'url' | 'headers' | 'bearer'>,
  { signal }: Pick<RequestDeadline, 'signal'>,
  position: StreamPosition,
): Promise<SendResponse | undefined> {
  const { lastEventId, retryDelayMs } = position;
  if (era !== 'legacy' || lastEventId === '' || lastEventId.length > MAX_EVENT_ID_LENGTH) return undefined;
  const { 'content-type': _type, ...baseHeaders } = postHeaders;
  const headers = { ...baseHeaders, accept: 'text/event-stream', 'last-event-id': lastEventId };
  for (let failures = 0; failures < MAX_CONSECUTIVE_FAILURES && position.countResume(); failures += 1) {
    try {
      await sleep(clock, retryDelayMs, signal);
      const reply = await sendWithCredential(send, { method: 'GET', url, headers, signal }, bearer);
      if (reply.status === 200 && reply.isEventStream) return reply;
      void reply.discard();
      if (!isTransientStatus(reply.status)) return undefined;
    } catch {
      if (signal.aborted) return undefined;
    }
  }
  return undefined;
}

/** A server may not have noticed yet that the stream before ended. */
function isTransientStatus(status: number): boolean {
  return status === 409 || status === 429 || status >= 500;
}

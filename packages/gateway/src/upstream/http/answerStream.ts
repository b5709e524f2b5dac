import type { Cancel, SendReply } from '@behalf/kernel';
import type { Answer, Json } from '../upstream.ts';
import { UpstreamError, type ReadNetworkError } from '../upstreamError.ts';
import type { ConverseParts, Outgoing } from './converse.ts';
import { networkFailure } from './networkFailure.ts';
import type { Waiting } from './patience.ts';
import { isObject, readAnswer, readAtOnce, readMessages, type Message } from './readAnswer.ts';
import { createPlace, resumeStream, type Place } from './resumeStream.ts';
import { asNotice } from './serverMessages.ts';
import { createSseParser } from './sseParser.ts';

/** A server that has answered may close its stream in this time, so that the connection can serve again. */
const DRAIN_MS = 1_000;

/** The answer from the event stream of a request, and from those that go on where it ended before the answer came. */
export async function readAnswerStream(
  parts: ConverseParts,
  out: Outgoing,
  first: SendReply,
  waiting: Waiting,
): Promise<Answer> {
  const place = createPlace();
  for (let reply = first; ;) {
    try {
      return await readStream(parts, out, reply, waiting, place);
    } catch (error) {
      const isBroken = error instanceof UpstreamError && error.reason === 'stream_broken';
      const next = isBroken ? await resumeStream(parts, out, waiting, place) : undefined;
      if (!next) throw error;
      reply = next;
    }
  }
}

/** Resolves with the answer as soon as it stands in the stream; the rest is read and thrown away. */
function readStream(
  parts: ConverseParts,
  out: Outgoing,
  reply: SendReply,
  waiting: Waiting,
  place: Place,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let done = false;
    const parser = createSseParser(({ type, data }) => {
      if (done || type !== 'message') return;
      const answer = readEvent(parts, out, data, waiting);
      if (!answer) return;
      done = true;
      resolve(answer);
    });
    async function pump(): Promise<void> {
      let cancel: Cancel | undefined;
      try {
        for await (const chunk of reply.chunks()) {
          if (!done) parser.push(chunk);
          // The parser sets it.
          if (done) cancel ??= parts.clock.timer(DRAIN_MS, () => waiting.drop());
        }
        throw new UpstreamError('stream_broken');
      } catch (error) {
        cancel?.();
        place.at(parser);
        // After the answer this settles nothing any more.
        reject(broken(error, parts.readError));
      }
    }
    void pump();
  });
}

/** A connection that breaks in the middle of an answer is a broken stream, whatever broke it. */
function broken(error: unknown, read: ReadNetworkError): UpstreamError {
  const failure = networkFailure(error, read);
  return failure.reason === 'reset' || failure.reason === 'connect_failed'
    ? new UpstreamError('stream_broken', { cause: error })
    : failure;
}

function readEvent(parts: ConverseParts, out: Outgoing, data: string, waiting: Waiting): Answer | undefined {
  // Some servers open a stream with an event that has an id and no data.
  if (data === '') return undefined;
  const answer = readAtOnce(data, out.id, out.era);
  if (answer) return answer;
  for (const message of readMessages(data)) {
    if (message.method === undefined) return readAnswer(message, out.id, out.era);
    take(parts, out, message, waiting);
  }
  return undefined;
}

/** What a server sends before the answer belongs to this request, and reaches its caller alone. */
function take(parts: ConverseParts, out: Outgoing, message: Message, waiting: Waiting): void {
  if (message.id !== undefined) {
    // The modern era has no requests to a client.
    if (out.era === 'legacy') parts.answerer.answer(message, out);
    return;
  }
  const params: Json = isObject(message.params) ? message.params : {};
  if (message.method === 'notifications/progress') {
    // Another token is another caller's, on a connection that several share.
    if (params['progressToken'] !== out.id) return;
    waiting.progressed();
    out.onProgress?.(params);
    return;
  }
  if (message.method === 'notifications/cancelled') {
    out.questions?.withdraw(params['requestId']);
    return;
  }
  if (message.method === 'notifications/message') {
    out.onLog?.(params);
    return;
  }
  const notice = asNotice(message);
  if (notice) parts.onNotice(notice);
}

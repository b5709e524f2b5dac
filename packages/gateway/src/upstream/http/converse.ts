import type { Cancel, Clock, Send, SendReply } from '@behalf/kernel';
import { bearing, refuseEmpty, sendWith } from '../bearerHeaders.ts';
import type { Questions } from '../askPeer.ts';
import type { Bearer, BoundToken } from '../target.ts';
import type { Answer, Era, HeaderValues, Json, Notice, RequestOptions } from '../upstream.ts';
import { UpstreamError, type ReadNetworkError } from '../upstreamError.ts';
import { bodyDecides, classifyStatus } from './classifyStatus.ts';
import { networkFailure } from './networkFailure.ts';
import type { Waiting } from './patience.ts';
import { isObject, readAnswer, readAtOnce, readMessages, type Message } from './readAnswer.ts';
import { asNotice, type Answerer } from './serverMessages.ts';
import { createSseParser } from './sseParser.ts';

/** A server that has answered may close its stream in this time, so that the connection can serve again. */
const DRAIN_MS = 1_000;

export interface ConverseParts {
  readonly send: Send;
  readonly clock: Clock;
  readonly readError: ReadNetworkError;
  readonly answerer: Answerer;
  readonly onNotice: (notice: Notice) => void;
}

/** One request, ready to be sent. */
export interface Outgoing {
  readonly url: string;
  readonly era: Era;
  readonly id: number;
  /** Without the token of a bearer: that is asked for at the last moment and kept nowhere. */
  readonly headers: HeaderValues;
  readonly bearer: Bearer | undefined;
  readonly body: string;
  /** It carries a session that the server may have lost. */
  readonly session: boolean;
  readonly onProgress: RequestOptions['onProgress'];
  readonly onLog: RequestOptions['onLog'];
  /** Who may be asked what the server asks on the stream of this request. */
  readonly questions: Questions | undefined;
}

/**
 * Sends one request and reads its answer, as JSON or from an event stream. Throws UpstreamError alone, or what the
 * bearer rejected with: then nothing was sent.
 */
export async function converse(parts: ConverseParts, out: Outgoing, waiting: Waiting): Promise<Answer> {
  let { headers } = out;
  let bound: BoundToken | undefined;
  if (out.bearer) {
    const asked = out.bearer.token();
    // Mostly it is at hand, and nobody waits for a promise.
    const token = asked instanceof Promise ? await waiting.forToken(asked) : asked;
    refuseEmpty(token);
    if (typeof token === 'string') headers = bearing(headers, token, 'POST', out.url);
    else bound = token;
  }
  try {
    const request = {
      method: 'POST',
      url: out.url,
      headers,
      body: out.body,
      signal: waiting.signal,
    } as const;
    const reply = await (bound ? sendWith(parts.send, request, bound) : parts.send(request));
    const { status } = reply;
    if (status < 200 || status > 299) throw await refusal(parts, out, reply);
    if (reply.isEventStream) return await readStream(parts, out, reply, waiting);
    const text = await reply.text();
    return readAtOnce(text, out.id, out.era) ?? readAnswer(answerAmong(readMessages(text)), out.id, out.era);
  } catch (error) {
    throw networkFailure(error, parts.readError);
  }
}

function answerAmong(messages: readonly Message[]): Message {
  const answer = messages.find(({ method }) => method === undefined);
  if (!answer) throw new UpstreamError('garbage');
  return answer;
}

async function refusal(parts: ConverseParts, out: Outgoing, reply: SendReply): Promise<UpstreamError> {
  const { status } = reply;
  const decides = bodyDecides(status) && !reply.isEventStream;
  if (!decides) void reply.discard();
  const text = decides ? await reply.text() : '';
  return classifyStatus(
    { status, header: (name) => reply.header(name), text },
    { ...out, clock: parts.clock },
  );
}

/** Resolves with the answer as soon as it stands in the stream; the rest is read and thrown away. */
function readStream(
  parts: ConverseParts,
  out: Outgoing,
  reply: SendReply,
  waiting: Waiting,
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

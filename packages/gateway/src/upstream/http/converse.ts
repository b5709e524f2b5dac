import type { Clock, Send, SendReply } from '@behalf/kernel';
import { bearing, refuseEmpty, sendWith } from '../bearerHeaders.ts';
import type { Questions } from '../askPeer.ts';
import type { Bearer, BoundToken } from '../target.ts';
import type { Answer, Era, HeaderValues, Notice, RequestOptions } from '../upstream.ts';
import { UpstreamError, type ReadNetworkError } from '../upstreamError.ts';
import { readAnswerStream } from './answerStream.ts';
import { bodyDecides, classifyStatus } from './classifyStatus.ts';
import { networkFailure } from './networkFailure.ts';
import type { Waiting } from './patience.ts';
import { readAnswer, readAtOnce, readMessages, type Message } from './readAnswer.ts';
import type { Answerer } from './serverMessages.ts';

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
    if (reply.isEventStream) return await readAnswerStream(parts, out, reply, waiting);
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

import { abortReason, LightCancellation, type Cancellation } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { filterCapabilities, isServerRequestAllowed, createFailureResponse } from '../upstream/dialogue.ts';
import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';
import type { Inbound, InboundPeer } from './call.ts';
import { isObject, MOST_QUESTIONS } from './dialogue.ts';
import { linksOf, linksResult } from './links.ts';
import type { Ready } from './obtainCredential.ts';

/** How often a modern server may answer one request of a legacy caller with questions. */
const MOST_ROUNDS = 8;

/** What goes with the next round: the server's own state, byte for byte, and what the caller answered. */
type Retry = NonNullable<InboundPeer['retry']>;

/**
 * A modern server answers with questions and forgets the call; a legacy caller is asked while the call goes on. So the
 * caller is asked here, and the server gets the same request again with the answers, until it gives a result.
 */
export async function inRounds(
  first: UpstreamResponse,
  { method, ready, inbound }: { method: string; ready: Ready; inbound: Inbound },
  next: (inbound: Inbound) => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  const { peer } = inbound;
  let answer = first;
  let asked = 0;
  for (let round = 0; answer.isInputRequired && peer?.era === 'legacy'; round += 1) {
    const questions = Object.entries(requestsOf(answer));
    asked += questions.length;
    if (round >= MOST_ROUNDS || asked > MOST_QUESTIONS) throw endless(ready);
    const retry = await answersOf(questions, { method, ready, inbound, peer });
    if ('links' in retry) return retry.links;
    const { requestState } = answer.result;
    answer = await next({
      ...inbound,
      peer: { ...peer, retry: { ...retry, ...(typeof requestState === 'string' && { requestState }) } },
    });
  }
  return answer;
}

type Questions = readonly (readonly [string, JsonObject])[];

interface Asking {
  readonly method: string;
  readonly ready: Ready;
  readonly inbound: Inbound;
  readonly peer: InboundPeer;
}

async function answersOf(
  questions: Questions,
  { method, ready, inbound, peer }: Asking,
): Promise<Retry | { links: UpstreamResponse }> {
  if (questions.length === 0) return {};
  const { ask } = peer;
  const capabilities = filterCapabilities(peer.capabilities, ready.server.settings.relay);
  const canAsk = ([, { method: asks, params }]: Questions[number]) =>
    isServerRequestAllowed(capabilities, asks, isObject(params) ? params : {});
  if (!ask || !questions.every(canAsk)) {
    const links = linksOf(questions.map(([, question]) => question));
    if (links) return { links: linksResult(method, ready.server, links) };
    throw unanswered(ready);
  }
  const all = linked(inbound.signal);
  try {
    const answers = questions.map(async ([key, question]) => {
      const params = isObject(question['params']) ? question['params'] : {};
      return [key, await answerOf(ask, String(question['method']), params, all.signal, ready)] as const;
    });
    return { inputResponses: Object.fromEntries(await Promise.all(answers)) };
  } finally {
    // The others are taken back when one of them cannot be answered.
    all.end();
  }
}

async function answerOf(
  ask: NonNullable<InboundPeer['ask']>,
  method: string,
  params: JsonObject,
  signal: Cancellation,
  ready: Ready,
): Promise<JsonObject> {
  try {
    return await ask(method, params, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    // A page or form that nobody filled in is one that was closed; for the rest there is no such answer.
    const reply = createFailureResponse(method, method === 'elicitation/create' ? undefined : error);
    if ('result' in reply) return reply.result;
    throw unanswered(ready, error);
  }
}

function linked(outer: Cancellation) {
  const signal = new LightCancellation();
  const leave = () => signal.abort(abortReason(outer));
  if (outer.aborted) leave();
  else outer.addEventListener('abort', leave);
  return {
    signal,
    end() {
      outer.removeEventListener('abort', leave);
      signal.abort(new DOMException('Another question was not answered', 'AbortError'));
    },
  };
}

function requestsOf({ result }: UpstreamResponse): Readonly<Record<string, JsonObject>> {
  const { inputRequests } = result;
  return isObject(inputRequests) ? (inputRequests as Readonly<Record<string, JsonObject>>) : {};
}

function unanswered({ server }: Ready, cause?: unknown): GatewayError {
  return new GatewayError('MCP_DIALOGUE_UNSUPPORTED', {
    detail: `${server.name} asks something before it goes on, and this client cannot be asked it or did not answer.`,
    cause,
  });
}

function endless({ server }: Ready): GatewayError {
  return new GatewayError('MCP_DIALOGUE_UNSUPPORTED', {
    detail: `${server.name} asks again and again. It was asked no further.`,
  });
}

import type { UpstreamResponse, Inbound } from '@behalf/gateway';
import { createEventStream } from '../../door/eventStream.ts';
import type { HotExchange } from '../../http.ts';
import type { Answer as ProblemAnswer } from '../../middleware/problem.ts';
import { createInFlight, type InFlight } from './inFlight.ts';
import { restInbound, type InboundParts } from './inbound.ts';
import { createObserving, type ObservingParts } from './observing.ts';

export interface AnsweringParts extends ObservingParts {
  headers: Readonly<Record<string, string>>;
  problemOf: (error: unknown) => ProblemAnswer;
  requestIds: () => string;
  /** Shared with every door that calls tools. */
  inFlight?: InFlight;
}

export interface Asked {
  server: string;
  /** For the log. */
  what: string;
  request: InboundParts['request'];
  work: (inbound: Inbound) => Promise<UpstreamResponse>;
  /** The text of the answer; by default the server's own. */
  write?: (answer: UpstreamResponse) => string;
}

/** Runs one request to a server and answers it: as JSON, or as events when the caller wants to hear of progress. */
export type Answering = (exchange: HotExchange, asked: Asked) => Promise<void>;

export function createAnswering(parts: AnsweringParts): Answering {
  const { clock, headers, problemOf, requestIds, inFlight = createInFlight() } = parts;
  const observe = createObserving(parts);

  async function run({ caller }: HotExchange, asked: Asked, inbound: Inbound): Promise<string> {
    const { server, what, work, write = asItCame } = asked;
    const { door, signal } = inbound;
    return write(await observe({ caller, door, server, what, signal }, () => work(inbound)));
  }

  async function stream(exchange: HotExchange, asked: Asked, inbound: Inbound): Promise<void> {
    const events = createEventStream(exchange.res, { clock, headers });
    try {
      const text = await run(exchange, asked, {
        ...inbound,
        onProgress: (params) => events.hint('progress', params),
        onLog: (params) => events.hint('log', params),
      });
      events.end('result', text);
    } catch (error) {
      events.close();
      if (inbound.signal.aborted) return;
      if (!events.begun) throw error;
      events.end('error', JSON.stringify(problemOf(error).problem));
    }
  }

  return async (exchange, asked) => {
    const { userId } = exchange.caller;
    inFlight.enter(userId);
    try {
      await answer(exchange, asked);
    } finally {
      inFlight.leave(userId);
    }
  };

  async function answer(exchange: HotExchange, asked: Asked): Promise<void> {
    const { req, caller, signal } = exchange;
    const { request } = asked;
    const inbound = restInbound({ caller, headers: req.headers, signal, id: requestIds(), request });
    if (wantsEvents(req.headers.accept)) return stream(exchange, asked, inbound);
    try {
      exchange.json(200, await run(exchange, asked, inbound));
    } catch (error) {
      // There is nobody to tell.
      if (!signal.aborted) throw error;
    }
  }
}

/**
 * The server's result as it came. What we read of it is what JSON.parse makes of the text, the last of two members of
 * one name; whoever reads it after us may take the first. That is no harm while nothing is decided by the content of a
 * result: a filter or a policy must write what it has judged, and not pass this text on.
 */
function asItCame({ result, json }: UpstreamResponse): string {
  return json ?? JSON.stringify(result);
}

/** The same for a tool: `isError` is always there, so that nobody has to know what its absence means. */
export function rawText(answer: UpstreamResponse): string {
  const { result, json } = answer;
  if (typeof result['isError'] === 'boolean') return asItCame(answer);
  // One of another type is replaced: beside it, ours would be a second member of the same name.
  if (json === undefined || 'isError' in result) return JSON.stringify({ ...result, isError: false });
  const head = json.slice(0, json.lastIndexOf('}'));
  return `${head}${isEmpty(result) ? '' : ','}"isError":false}`;
}

function isEmpty(result: UpstreamResponse['result']): boolean {
  for (const _key in result) return false;
  return true;
}

export function wantsEvents(accept: string | undefined): boolean {
  return accept !== undefined && /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(accept);
}

import { GatewayError, type Answer, type Inbound } from '@behalf/gateway';
import type { Cancellation, Clock } from '@behalf/kernel';
import { createEventStream } from '../../door/eventStream.ts';
import type { HotExchange } from '../../http.ts';
import type { Logger } from '../../logger.ts';
import type { Answer as ProblemAnswer } from '../../middleware/problem.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { createInFlight, type InFlightLimits } from './inFlight.ts';
import { restInbound, type InboundParts } from './inbound.ts';

export interface AnsweringParts {
  metrics: Metrics;
  clock: Clock;
  logger: Logger;
  headers: Readonly<Record<string, string>>;
  problemOf: (error: unknown) => ProblemAnswer;
  /** The name under which a server is counted; one that is not the operator's has none of its own. */
  labelOf: (caller: Inbound['principal'], server: string) => string;
  requestIds: () => string;
  limits?: InFlightLimits;
}

export interface Asked {
  server: string;
  /** For the log. */
  what: string;
  request: InboundParts['request'];
  work: (inbound: Inbound) => Promise<Answer>;
  /** The text of the answer; by default the server's own. */
  write?: (answer: Answer) => string;
}

/** Runs one request to a server and answers it: as JSON, or as events when the caller wants to hear of progress. */
export type Answering = (exchange: HotExchange, asked: Asked) => Promise<void>;

export function createAnswering(parts: AnsweringParts): Answering {
  const { metrics, clock, logger, headers, problemOf, labelOf, requestIds } = parts;
  const inFlight = createInFlight(parts.limits);

  async function run({ caller }: HotExchange, asked: Asked, inbound: Inbound): Promise<string> {
    const begun = clock.now();
    let outcome = 'ok';
    try {
      const answer = await asked.work(inbound);
      if (answer.result['isError'] === true) outcome = 'tool_error';
      return (asked.write ?? asItCame)(answer);
    } catch (error) {
      outcome = outcomeOf(error, inbound.signal);
      // The server's own words stay out of the log: their size and content are its choice.
      if (outcome !== 'cancelled') {
        logger.warn('A request to a server failed', {
          server: asked.server,
          what: asked.what,
          code: outcome,
          user: caller.userId,
        });
      }
      throw error;
    } finally {
      const server = labelOf(caller, asked.server);
      metrics.observe({ server, door: inbound.door, outcome, seconds: (clock.now() - begun) / 1000 });
    }
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
function asItCame({ result, json }: Answer): string {
  return json ?? JSON.stringify(result);
}

/** The same for a tool: `isError` is always there, so that nobody has to know what its absence means. */
export function rawText(answer: Answer): string {
  const { result, json } = answer;
  if (typeof result['isError'] === 'boolean') return asItCame(answer);
  // One of another type is replaced: beside it, ours would be a second member of the same name.
  if (json === undefined || 'isError' in result) return JSON.stringify({ ...result, isError: false });
  const head = json.slice(0, json.lastIndexOf('}'));
  return `${head}${isEmpty(result) ? '' : ','}"isError":false}`;
}

function isEmpty(result: Answer['result']): boolean {
  for (const _key in result) return false;
  return true;
}

function wantsEvents(accept: string | undefined): boolean {
  return accept !== undefined && /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(accept);
}

function outcomeOf(error: unknown, signal: Cancellation): string {
  const isAbort = error === signal.reason || (error as Error | undefined)?.name === 'AbortError';
  if (signal.aborted && isAbort) return 'cancelled';
  return error instanceof GatewayError ? error.code : 'INTERNAL';
}

import type { UpstreamResponse, Inbound } from '@behalf/gateway';
import { createEventStream } from '../../http/eventStream.ts';
import type { FastExchange } from '../../http/routes.ts';
import type { ProblemResponse as ProblemAnswer } from '../../middleware/problem.ts';
import { createInFlightLimiter, type InFlightLimiter } from './inFlightLimiter.ts';
import { createRestInbound, type RestInboundParts } from './inbound.ts';
import { createObserveRequest, type ObserveRequestParts } from './observeRequest.ts';

export interface ServerResponderParts extends ObserveRequestParts {
  headers: Readonly<Record<string, string>>;
  problemOf: (error: unknown) => ProblemAnswer;
  requestIds: () => string;
  /** Shared with every door that calls tools. */
  inFlight?: InFlightLimiter;
}

export interface ServerRequestSpec {
  server: string;
  /** For the log. */
  operation: string;
  request: RestInboundParts['request'];
  work: (inbound: Inbound) => Promise<UpstreamResponse>;
  /** The text of the answer; by default the server's own. */
  serialize?: (answer: UpstreamResponse) => string;
}

/** Runs one request to a server and answers it: as JSON, or as events when the caller wants to hear of progress. */
export type ServerResponder = (exchange: FastExchange, spec: ServerRequestSpec) => Promise<void>;

export function createServerResponder(parts: ServerResponderParts): ServerResponder {
  const { clock, headers, problemOf, requestIds, inFlight = createInFlightLimiter() } = parts;
  const observe = createObserveRequest(parts);

  async function run({ caller }: FastExchange, spec: ServerRequestSpec, inbound: Inbound): Promise<string> {
    const { server, operation, work, serialize = rawJson } = spec;
    const { door, signal } = inbound;
    return serialize(await observe({ caller, door, server, operation, signal }, () => work(inbound)));
  }

  async function stream(exchange: FastExchange, spec: ServerRequestSpec, inbound: Inbound): Promise<void> {
    const events = createEventStream(exchange.res, { clock, headers });
    try {
      const text = await run(exchange, spec, {
        ...inbound,
        onProgress: (params) => events.sendIfReady('progress', params),
        onLog: (params) => events.sendIfReady('log', params),
      });
      events.end('result', text);
    } catch (error) {
      events.close();
      if (inbound.signal.aborted) return;
      if (!events.isStarted) throw error;
      events.end('error', JSON.stringify(problemOf(error).problem));
    }
  }

  return async (exchange, spec) => {
    const { userId } = exchange.caller;
    inFlight.acquire(userId);
    try {
      await respondOnce(exchange, spec);
    } finally {
      inFlight.release(userId);
    }
  };

  async function respondOnce(exchange: FastExchange, spec: ServerRequestSpec): Promise<void> {
    const { req, caller, signal } = exchange;
    const { request } = spec;
    const inbound = createRestInbound({ caller, headers: req.headers, signal, id: requestIds(), request });
    if (prefersEventStream(req.headers.accept)) return stream(exchange, spec, inbound);
    try {
      exchange.json(200, await run(exchange, spec, inbound));
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
function rawJson({ result, json }: UpstreamResponse): string {
  return json ?? JSON.stringify(result);
}

/** The same for a tool: `isError` is always there, so that nobody has to know what its absence means. */
export function rawText(response: UpstreamResponse): string {
  const { result, json } = response;
  if (typeof result['isError'] === 'boolean') return rawJson(response);
  // One of another type is replaced: beside it, ours would be a second member of the same name.
  if (json === undefined || 'isError' in result) return JSON.stringify({ ...result, isError: false });
  const head = json.slice(0, json.lastIndexOf('}'));
  return `${head}${isEmpty(result) ? '' : ','}"isError":false}`;
}

function isEmpty(result: UpstreamResponse['result']): boolean {
  for (const _key in result) return false;
  return true;
}

export function prefersEventStream(accept: string | undefined): boolean {
  return accept !== undefined && /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(accept);
}

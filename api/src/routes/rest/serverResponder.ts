import type { IncomingHttpHeaders } from 'node:http';
import { hopHeader } from '@behalf/contracts';
import {
  type CallOutcome,
  type Inbound,
  type JsonObject,
  type Principal,
  type ServerOutcome,
  type TraceContext,
  requestFields,
} from '@behalf/gateway';
import type { Cancellation, Random } from '@behalf/kernel';
import type { ProblemResponse as ProblemAnswer } from '../../http/errors.ts';
import { type InFlightLimiter, createInFlightLimiter } from '../../http/limits.ts';
import type { FastExchange } from '../../http/route.ts';
import { toSignInResult } from '../../http/signInResult.ts';
import { createEventStream } from '../../http/sse.ts';
import { type ObserveRequestParts, createObserveRequest } from '../ops/observeRequest.ts';

export interface ServerResponderParts extends ObserveRequestParts {
  headers: Readonly<Record<string, string>>;
  problemOf: (error: unknown) => ProblemAnswer;
  requestIds: () => string;
  /** Shared with every door that calls tools. */
  inFlight?: InFlightLimiter;
}

interface ServerRequestSpec {
  server: string;
  /** For the log. */
  operation: string;
  request: RestInboundParts['request'];
  work: (inbound: Inbound) => Promise<CallOutcome>;
  /** Writes the response body. The default forwards the server's JSON text. */
  serialize?: (outcome: ServerOutcome) => string;
}

/** Runs one request to a server and answers it: as JSON, or as events when the caller wants to hear of progress. */
export type ServerResponder = (exchange: FastExchange, spec: ServerRequestSpec) => Promise<void>;

export function createServerResponder(parts: ServerResponderParts): ServerResponder {
  const { clock, headers, problemOf, requestIds, inFlight = createInFlightLimiter() } = parts;
  const observe = createObserveRequest(parts);

  async function run({ caller }: FastExchange, spec: ServerRequestSpec, inbound: Inbound): Promise<string> {
    const { server, operation, work, serialize = rawJson } = spec;
    const { door, signal } = inbound;
    const outcome = await observe({ caller, door, server, operation, signal }, () => work(inbound));
    return serialize(outcome.kind === 'auth_required' ? toSignInResult(outcome.signIn) : outcome);
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
function rawJson(outcome: ServerOutcome): string {
  const json = outcome.kind === 'result' ? outcome.json : undefined;
  return json ?? JSON.stringify(outcome.result);
}

/** The same for a tool: `isError` is always there, so that nobody has to know what its absence means. */
export function rawText(outcome: ServerOutcome): string {
  const { result } = outcome;
  if (typeof result['isError'] === 'boolean') return rawJson(outcome);
  const json = outcome.kind === 'result' ? outcome.json : undefined;
  // One of another type is replaced: beside it, ours would be a second member of the same name.
  if (json === undefined || 'isError' in result) return JSON.stringify({ ...result, isError: false });
  const head = json.slice(0, json.lastIndexOf('}'));
  return `${head}${isEmpty(result) ? '' : ','}"isError":false}`;
}

function isEmpty(result: JsonObject): boolean {
  for (const _key in result) return false;
  return true;
}

export function prefersEventStream(accept: string | undefined): boolean {
  return accept !== undefined && /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(accept);
}

interface RestInboundParts {
  caller: Principal;
  headers: IncomingHttpHeaders;
  signal: Cancellation;
  /** Names the request where it is written down. */
  id?: string;
  request?:
    | {
        conversationId?: string | undefined;
        parentMessageId?: string | undefined;
        messageId?: string | undefined;
      }
    | undefined;
}

/** What the REST door knows of a request to a server. */
export function createRestInbound({ caller, headers, signal, id, request }: RestInboundParts): Inbound {
  const hop = headers[hopHeader];
  const trace = traceContext(headers);
  return {
    principal: caller,
    door: 'rest',
    // The id of the caller's own trace where there is one: then our records and theirs meet.
    id: trace?.traceparent.slice(3, 35) ?? id,
    signal,
    ...(typeof hop === 'string' && { hop }),
    ...(trace && { trace }),
    ...(request && { fields: requestFields(request) }),
  };
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const VISIBLE = /^[\x20-\x7e]+$/;

/** W3C Trace Context: what is malformed is not passed on, and without `traceparent` the rest means nothing. */
export function traceContext(headers: IncomingHttpHeaders): TraceContext | undefined {
  const { traceparent, tracestate, baggage } = headers;
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return undefined;
  return {
    traceparent,
    ...(isValidHeader(tracestate, 512) && { tracestate }),
    ...(isValidHeader(baggage, 8192) && { baggage }),
  };
}

function isValidHeader(value: string | string[] | undefined, maxLength: number): value is string {
  return typeof value === 'string' && value.length <= maxLength && VISIBLE.test(value);
}

/** Names requests of this process in turn: a random name for each would cost more than it tells. */
export function createRequestIds(random: Random): () => string {
  const processId = random.id().slice(0, 8);
  let count = 0;
  return () => {
    count += 1;
    return `${processId}-${count.toString(36)}`;
  };
}

import type { CallOutcome, Inbound, JsonObject, ServerOutcome } from '@behalf/gateway';
import type { ProblemResponse } from '../../http/errors.ts';
import { type ObserveRequestParts, createObserveRequest, createRestInbound } from '../../http/inbound.ts';
import type { InFlightLimiter } from '../../http/limits.ts';
import type { FastExchange } from '../../http/route.ts';
import { toSignInResult } from '../../http/signInResult.ts';
import { createEventStream } from '../../http/sse.ts';

interface ServerResponderParts extends ObserveRequestParts {
  headers: Readonly<Record<string, string>>;
  problemOf: (error: unknown) => ProblemResponse;
  requestIds: () => string;
  /** Shared by all entry points that call tools. */
  inFlight: InFlightLimiter;
}

interface ServerRequestSpec {
  server: string;
  /** For the log. */
  operation: string;
  request: Parameters<typeof createRestInbound>[0]['request'];
  work: (inbound: Inbound) => Promise<CallOutcome>;
  /** The response body; by default the unchanged result of the server. */
  serialize?: (outcome: ServerOutcome) => string;
}

/** Runs one request to a server. Answers with JSON, or with an event stream if the client accepts one. */
export type ServerResponder = (exchange: FastExchange, spec: ServerRequestSpec) => Promise<void>;

export function createServerResponder(parts: ServerResponderParts): ServerResponder {
  const { clock, headers, problemOf, requestIds, inFlight } = parts;
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
      // After a disconnect nothing can be sent.
      if (!signal.aborted) throw error;
    }
  }
}

/**
 * The result as the server sent it. JSON parsers disagree about duplicate members: the gateway reads the last one, another reader
 * may take the first. This is safe because nothing is decided by the content of a result. A filter must serialize what it checked.
 */
function rawJson(outcome: ServerOutcome): string {
  const json = outcome.kind === 'result' ? outcome.json : undefined;
  return json ?? JSON.stringify(outcome.result);
}

/** The result of a tool call. Always contains `isError`, so that clients need not know the default. */
export function rawText(outcome: ServerOutcome): string {
  const { result } = outcome;
  if (typeof result['isError'] === 'boolean') return rawJson(outcome);
  const json = outcome.kind === 'result' ? outcome.json : undefined;
  // Replaces an `isError` of another type. Appending would create a duplicate member.
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

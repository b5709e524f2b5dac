import type { IncomingHttpHeaders } from 'node:http';
import { hopHeader } from '@behalf/contracts';
import {
  type CallOutcome,
  type EntryPoint,
  GatewayError,
  type Inbound,
  type Principal,
  type TraceContext,
  requestFields,
} from '@behalf/gateway';
import type { Cancellation, Clock, Random } from '@behalf/kernel';
import type { Request, Response } from 'express';
import type { Metrics } from '../routes/ops/metrics.ts';
import type { Logger } from '../runtime/logger.ts';
import { createDisconnectSignal } from './request.ts';

interface RestInboundParts {
  caller: Principal;
  headers: IncomingHttpHeaders;
  signal: Cancellation;
  /** The id of the request in records. */
  id?: string;
  request?:
    | {
        conversationId?: string | undefined;
        parentMessageId?: string | undefined;
        messageId?: string | undefined;
      }
    | undefined;
}

/** A REST request as the gateway package takes it. */
export function createRestInbound({ caller, headers, signal, id, request }: RestInboundParts): Inbound {
  const hop = headers[hopHeader];
  const trace = traceContext(headers);
  return {
    principal: caller,
    door: 'rest',
    // The caller's trace id if there is one, so that records of the caller and of the gateway can be joined.
    id: trace?.traceparent.slice(3, 35) ?? id,
    signal,
    ...(typeof hop === 'string' && { hop }),
    ...(trace && { trace }),
    ...(request && { fields: requestFields(request) }),
  };
}

/** An Express request as the gateway package takes it. The signal aborts when the client disconnects. */
export function inboundOf<Caller extends Principal>(
  req: Pick<Request, 'headers'>,
  res: Response,
  caller: Caller,
): Inbound & { principal: Caller } {
  const inbound = createRestInbound({ caller, headers: req.headers, signal: createDisconnectSignal(res) });
  return { ...inbound, principal: caller };
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const VISIBLE = /^[\x20-\x7e]+$/;

/** W3C Trace Context. Malformed headers are dropped; without `traceparent` the other headers are dropped as well. */
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

/** Ids of requests: a random prefix per process and a counter. A random id per request would cost more CPU. */
export function createRequestIds(random: Random): () => string {
  const processId = random.id().slice(0, 8);
  let count = 0;
  return () => {
    count += 1;
    return `${processId}-${count.toString(36)}`;
  };
}

export interface ObserveRequestParts {
  metrics: Pick<Metrics, 'observe'>;
  clock: Clock;
  logger: Pick<Logger, 'warn'>;
  /** The metrics label of a server. Servers that users define share one label. */
  labelOf: (caller: Principal, server: string) => string;
}

interface ObservedRequest {
  caller: Principal;
  door: EntryPoint;
  server: string;
  /** For the log. */
  operation: string;
  signal: Cancellation;
}

/** Runs a request to a server. Counts its outcome and duration, and logs a failure. */
export type ObserveRequest = <T extends CallOutcome>(
  request: ObservedRequest,
  work: () => Promise<T>,
) => Promise<T>;

export function createObserveRequest(parts: ObserveRequestParts): ObserveRequest {
  const { metrics, clock, logger, labelOf } = parts;
  return async ({ caller, door, server, operation, signal }, work) => {
    const startedAt = clock.now();
    let outcome = 'ok';
    try {
      const response = await work();
      if (response.kind === 'auth_required' || response.result['isError'] === true) outcome = 'tool_error';
      return response;
    } catch (error) {
      outcome = outcomeOf(error, signal);
      // The error text of the server is not logged: the server controls its size and content.
      if (outcome !== 'cancelled') {
        const { userId: user } = caller;
        logger.warn('A request to a server failed', { server, operation, code: outcome, user });
      }
      throw error;
    } finally {
      const seconds = (clock.now() - startedAt) / 1000;
      metrics.observe({ tenant: caller.tenant, server: labelOf(caller, server), door, outcome, seconds });
    }
  };
}

function outcomeOf(error: unknown, signal: Cancellation): string {
  const isAbort = error === signal.reason || (error as Error | undefined)?.name === 'AbortError';
  if (signal.aborted && isAbort) return 'cancelled';
  return error instanceof GatewayError ? error.code : 'INTERNAL';
}

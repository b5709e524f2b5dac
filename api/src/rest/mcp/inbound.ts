import type { IncomingHttpHeaders } from 'node:http';
import { hopHeader } from '@behalf/contracts';
import type { Cancellation } from '@behalf/kernel';
import { requestFields, type Inbound, type TraceContext, type Principal } from '@behalf/gateway';

export interface RestInboundParts {
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

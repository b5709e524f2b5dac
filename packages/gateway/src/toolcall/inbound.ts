import type { BlockRunRequest } from '@behalf/contracts';
import type { Cancellation } from '@behalf/kernel';
import type { Principal } from '../principal/principal.ts';
import type { Era, JsonObject } from '../upstream/upstream.ts';

/** By which door a call came in. */
export type EntryPoint = 'rest' | 'mcp' | 'chat';

/** W3C trace context, as it came in and as it goes on. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

/** Fields of the chat request that a definition may name as `{{LIBRECHAT_BODY_...}}`. */
export interface RequestFields {
  readonly CONVERSATIONID?: string;
  readonly PARENTMESSAGEID?: string;
  readonly MESSAGEID?: string;
}

/** What the inbound peer can do while its request is under way. */
export interface InboundPeer {
  /** Client capabilities in the sense of MCP, as the peer declared them. */
  readonly capabilities: JsonObject;
  /** `legacy`: can be asked in the middle of a call, through `ask`. `modern`: gets an `input_required` result back. */
  readonly era: Era;
  /** Legacy peers: sends the server's request to the client and waits for the answer: its result, or throws. */
  readonly sendRequest?: (method: string, params: JsonObject, signal: Cancellation) => Promise<JsonObject>;
  /** Modern peers: what a retried request brings. The door has unwrapped `requestState` already. */
  readonly retry?: { readonly inputResponses?: JsonObject; readonly requestState?: string };
  /** The log level this request wants. */
  readonly logLevel?: string;
}

/** One inbound request: who asks, how long they wait, and what they want to hear meanwhile. */
export interface Inbound {
  readonly principal: Principal;
  readonly door: EntryPoint;
  /** Names this very request wherever it is written down. */
  readonly id?: string | undefined;
  /** Aborts when the caller has left. */
  readonly signal: Cancellation;
  readonly fields?: RequestFields | undefined;
  /** Which of the caller's own credentials at the server, by its label; by default their default one. */
  readonly credential?: string | undefined;
  /** Names the inbound request where several calls belong to one. */
  readonly request?: string;
  readonly trace?: TraceContext | undefined;
  /** The inbound hop header; the door out counts it up. */
  readonly hop?: string | undefined;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  readonly onLog?: ((params: JsonObject) => void) | undefined;
  /** Absent: nobody can be asked. */
  readonly peer?: InboundPeer | undefined;
}

/** What a caller says of the conversation that its request belongs to. */
export function requestFields({
  conversationId,
  parentMessageId,
  messageId,
}: NonNullable<BlockRunRequest['request']>): RequestFields {
  return {
    ...(conversationId !== undefined && { CONVERSATIONID: conversationId }),
    ...(parentMessageId !== undefined && { PARENTMESSAGEID: parentMessageId }),
    ...(messageId !== undefined && { MESSAGEID: messageId }),
  };
}

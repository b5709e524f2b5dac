import type { BlockRunRequest } from '@behalf/contracts';
import type { Cancellation } from '@behalf/kernel';
import type { Principal } from '../principal/principal.ts';
import type { Era, JsonObject } from '../upstream/upstream.ts';

/** The adapter that received a call. */
export type EntryPoint = 'rest' | 'mcp' | 'chat';

/** W3C Trace Context and Baggage. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

/** Fields of the chat request that a definition can use as `{{LIBRECHAT_BODY_...}}`. */
export interface RequestFields {
  readonly CONVERSATIONID?: string;
  readonly PARENTMESSAGEID?: string;
  readonly MESSAGEID?: string;
}

/** The capabilities of the client during its request. */
export interface InboundPeer {
  /** MCP client capabilities, as declared. */
  readonly capabilities: JsonObject;
  /** A `legacy` client answers requests during the call. A `modern` client gets an `input_required` result. */
  readonly era: Era;
  /** Legacy clients: sends a server's request to the client and returns the result, or rejects. */
  readonly sendRequest?: (method: string, params: JsonObject, signal: Cancellation) => Promise<JsonObject>;
  /** Modern clients: the answers of a repeated request. The adapter has opened the sealed `requestState`. */
  readonly retry?: { readonly inputResponses?: JsonObject; readonly requestState?: string };
  /** The log level that this request asks for. */
  readonly logLevel?: string;
}

/** A request of a caller. */
export interface Inbound {
  readonly principal: Principal;
  readonly door: EntryPoint;
  /** Identifies the request in logs and audit events. */
  readonly id?: string | undefined;
  /** Aborts when the caller disconnects. */
  readonly signal: Cancellation;
  readonly fields?: RequestFields | undefined;
  /** Label of one of the caller's credentials at the server. The default credential if absent. */
  readonly credential?: string | undefined;
  /** Identifies the inbound request that several calls belong to. */
  readonly request?: string;
  readonly trace?: TraceContext | undefined;
  /** The inbound hop header. The upstream client increments it. */
  readonly hop?: string | undefined;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  readonly onLog?: ((params: JsonObject) => void) | undefined;
  /** Absent if the client cannot answer requests. */
  readonly peer?: InboundPeer | undefined;
}

/** The conversation of a REST request in the form of the placeholders. */
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

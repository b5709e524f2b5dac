import type { Cancellation } from '@behalf/kernel';
import type { Principal } from '../principal/principal.ts';
import type { Json } from '../upstream/upstream.ts';

/** By which door a call came in. */
export type Door = 'rest' | 'mcp' | 'chat';

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

/** One inbound request: who asks, how long they wait, and what they want to hear meanwhile. */
export interface Inbound {
  readonly principal: Principal;
  readonly door: Door;
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
  readonly onProgress?: ((params: Json) => void) | undefined;
  readonly onLog?: ((params: Json) => void) | undefined;
}

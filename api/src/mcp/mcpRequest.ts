import type { IncomingHttpHeaders } from 'node:http';
import type { Era, JsonObject, Principal } from '@behalf/gateway';
import type { Cancellation } from '@behalf/kernel';
import type { ClientEndpoint } from './clientEndpoint.ts';
import type { RpcId } from './rpcMessage.ts';
import type { McpSession } from './session/sessions.ts';
import type { Reply } from './stream/reply.ts';

/** One request of a client, of either era: what the methods work on. */
export interface McpRequest {
  readonly caller: Principal;
  readonly endpoint: ClientEndpoint;
  readonly era: Era;
  /** The revision that is spoken. */
  readonly version: string;
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
  /** Of the client, as it declared them: for its session, or with this request. */
  readonly capabilities: JsonObject;
  /** From which level on it wants to hear what a server logs; undefined: nothing. */
  readonly logLevel: string | undefined;
  /** Of the legacy era alone. */
  readonly session: McpSession | undefined;
  readonly signal: Cancellation;
  readonly reply: Reply;
  readonly headers: IncomingHttpHeaders;
}

/** Gives the text of the result. */
export type Method = (mcpRequest: McpRequest) => string | Promise<string>;

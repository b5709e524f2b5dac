import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Bearer } from '../target.ts';
import type { UpstreamError } from '../upstreamError.ts';

/** A transport that can also tell the end of one request, while the others on it go on. */
export interface Channel extends Transport {
  onrequesterror?: ((id: unknown, error: UpstreamError) => void) | undefined;
  /** Where each message is an HTTP request of its own, it can carry a user's token. No other channel takes one. */
  sendWithBearer?(message: JSONRPCMessage, context: SendContext): Promise<void>;
}

/** On whose behalf a message goes out. */
export interface SendContext {
  readonly bearer: Bearer;
  /** Runs when the token is at hand and before anything is sent. False: nobody waits any more. */
  readonly shouldSend?: () => boolean;
}

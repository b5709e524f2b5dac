import { LightCancellation } from '@behalf/kernel';
import {
  isServerRequestAllowed,
  createFailureResponse,
  type Dialogue,
  type RpcResponseBody,
} from './dialogue.ts';
import type { JsonObject } from './upstream.ts';

/** The longest a call lasts when people are asked in it. */
export const MAX_DIALOGUE_MS = 600_000;

/** Questions of one call in all, and those that wait at once: a server must not wear a user down. */
const MAX_REQUESTS_PER_CALL = 16;
const MAX_CONCURRENT_REQUESTS = 4;
/** A picture fits in. */
const MAX_TEXT_LENGTH = 1024 * 1024;

/** The questions of one call, and the one who may be asked them. */
export interface ServerRequests {
  /** Never rejects: a server always gets a reply. Undefined: nobody is asked this. */
  forward(id: unknown, method: unknown, params: JsonObject): Promise<RpcResponseBody> | undefined;
  /** The server took a question back. */
  cancel(id: unknown): void;
  /** The call is over, whichever way: nobody waits for an answer any more. */
  readonly close: () => void;
}

export interface ServerRequestsParts {
  readonly dialogue: Extract<Dialogue, { era: 'legacy' }>;
  /** Time that a person takes is not the server's silence. */
  readonly withPausedTimeout: <T>(userResponse: Promise<T>) => Promise<T>;
}

export function createServerRequests({ dialogue, withPausedTimeout }: ServerRequestsParts): ServerRequests {
  const pendingRequests = new Map<unknown, LightCancellation>();
  let requestCount = 0;
  let isClosed = false;

  async function forwardToClient(id: unknown, method: string, params: JsonObject): Promise<RpcResponseBody> {
    const signal = new LightCancellation();
    requestCount += 1;
    pendingRequests.set(id, signal);
    try {
      const result = await withPausedTimeout(dialogue.sendRequest(method, params, signal));
      return JSON.stringify(result).length > MAX_TEXT_LENGTH
        ? createFailureResponse(method, undefined)
        : { result };
    } catch (error) {
      return createFailureResponse(method, error);
    } finally {
      pendingRequests.delete(id);
    }
  }

  return {
    forward(id, method, params) {
      if (
        isClosed ||
        requestCount >= MAX_REQUESTS_PER_CALL ||
        pendingRequests.size >= MAX_CONCURRENT_REQUESTS ||
        pendingRequests.has(id)
      )
        return undefined;
      if (typeof method !== 'string' || !isServerRequestAllowed(dialogue.capabilities, method, params))
        return undefined;
      return JSON.stringify(params).length > MAX_TEXT_LENGTH
        ? undefined
        : forwardToClient(id, method, params);
    },
    cancel: (id) =>
      pendingRequests.get(id)?.abort(new DOMException('The server canceled the request', 'AbortError')),
    close() {
      isClosed = true;
      for (const signal of pendingRequests.values()) {
        signal.abort(new DOMException('The call has ended', 'AbortError'));
      }
    },
  };
}

import type { JsonObject } from '@behalf/gateway';
import { abortReason, type Cancellation } from '@behalf/kernel';
import { isObject } from '../rpcMessage.ts';

export interface InputRequest {
  readonly key: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** The questions of one call: those that wait to be told, and those that wait for an answer. */
export interface InputRequestQueue {
  /** Whether something waits to be told. */
  readonly hasPending: boolean;
  /** Rejects when nobody answers. `isHeard`: somebody is there, so that it is not kept for long. */
  add(request: Omit<InputRequest, 'key'>, signal: Cancellation, isAttached: boolean): Promise<JsonObject>;
  /** Takes those out that may be told; the others are not answered. */
  drainPending(isAllowed: (request: InputRequest) => boolean): readonly InputRequest[];
  /** What was told and is not answered now never will be. */
  resolveResponses(responses: JsonObject): void;
  rejectAll(reason: Error): void;
}

/** Of what waits while nobody is there: memory that a server fills and nobody empties. */
const MAX_PENDING_LENGTH = 64 * 1024;

interface PendingResponse {
  readonly resolve: (response: JsonObject) => void;
  readonly reject: (reason: Error) => void;
}

export function createInputRequestQueue(): InputRequestQueue {
  const unsent = new Map<string, { request: InputRequest; size: number }>();
  const awaiting = new Map<string, PendingResponse>();
  let requestCount = 0;
  let unsentLength = 0;

  function remove(key: string): void {
    unsentLength -= unsent.get(key)?.size ?? 0;
    unsent.delete(key);
    awaiting.delete(key);
  }

  return {
    get hasPending() {
      return unsent.size > 0;
    },
    add: (input, signal, isAttached) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(abortReason(signal));
        requestCount += 1;
        const key = `q${requestCount}`;
        const size = isAttached ? 0 : JSON.stringify(input.params).length;
        if (unsentLength + size > MAX_PENDING_LENGTH)
          return reject(new Error('The pending input requests are too large'));
        unsentLength += size;
        const cleanUp = () => {
          signal.removeEventListener('abort', onAbort);
          remove(key);
        };
        const onAbort = () => {
          cleanUp();
          reject(abortReason(signal));
        };
        signal.addEventListener('abort', onAbort);
        unsent.set(key, { request: { ...input, key }, size });
        awaiting.set(key, {
          resolve(response) {
            cleanUp();
            resolve(response);
          },
          reject(reason) {
            cleanUp();
            reject(reason);
          },
        });
      }),
    drainPending(isAllowed) {
      const allowedRequests: InputRequest[] = [];
      for (const [key, { request, size }] of [...unsent]) {
        unsent.delete(key);
        unsentLength -= size;
        if (isAllowed(request)) allowedRequests.push(request);
        else awaiting.get(key)?.reject(new Error('The client does not support this input request'));
      }
      return allowedRequests;
    },
    resolveResponses(responses) {
      for (const [key, { resolve, reject }] of [...awaiting]) {
        if (unsent.has(key)) continue;
        const result = Object.hasOwn(responses, key) ? responses[key] : undefined;
        if (isObject(result)) resolve(withoutKind(result));
        else reject(new Error('The client did not respond'));
      }
    },
    rejectAll(reason) {
      for (const { reject } of [...awaiting.values()]) reject(reason);
    },
  };
}

/** Results of the era before have no kind. */
function withoutKind({ resultType: _kind, ...response }: JsonObject): JsonObject {
  return response;
}

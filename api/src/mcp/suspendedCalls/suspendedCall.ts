import { filterCapabilities, GatewayError, isServerRequestAllowed, type JsonObject } from '@behalf/gateway';
import { abortReason, LightCancellation, type Cancellation, type Clock } from '@behalf/kernel';
import { isObject } from '../rpcMessage.ts';
import { createInputRequestQueue, type InputRequest } from './inputRequestQueue.ts';

/** The request of the client that waits for the call at this moment. */
export interface AttachedRequest {
  /** Of a client that leaves: that is its cancellation. */
  readonly signal: Cancellation;
  /** As this very request declared them. */
  readonly capabilities: JsonObject;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  readonly onLog?: ((params: JsonObject) => void) | undefined;
}

/** A request to a legacy server that goes on while its modern client is away, between a question and the answer. */
export interface SuspendedCall {
  /** Of the request to the server. */
  readonly signal: Cancellation;
  readonly onProgress: (params: JsonObject) => void;
  readonly onLog: (params: JsonObject) => void;
  /** Puts a question of the server to the client, whenever it is there. */
  sendRequest(method: string, params: JsonObject, signal: Cancellation): Promise<JsonObject>;
  /** What the request came to. */
  settle(outcome: Promise<string>): void;
  /** Waits with this request: gives the text of the result, or that of the next questions. */
  attach(request: AttachedRequest): Promise<string>;
  /** What the client answered to what it was told last. Whatever it left out is not answered. */
  provideResponses(responses: JsonObject): void;
  /** Nobody waits any more: the server is told so. */
  cancel(reason: Error): void;
}

export interface SuspendedCallParts {
  readonly clock: Clock;
  /** Before anything is asked: whether there is room for one that waits. Throws where there is none. */
  readonly reserveSlot: () => void;
  /** Keeps the call for a client that comes again, and gives the text that tells it the questions. */
  readonly suspend: (inputRequests: JsonObject) => Promise<string>;
  /** It is over, whichever way. */
  readonly onClosed: () => void;
}

/** A server that asks several things at once has asked them by then: they are one round. */
const BATCH_WINDOW_MS = 30;
/** A result that comes while nobody is there is kept up to this size. */
const MAX_STORED_RESULT_LENGTH = 256 * 1024;

export function createSuspendedCall({
  clock,
  reserveSlot,
  suspend,
  onClosed,
}: SuspendedCallParts): SuspendedCall {
  const signal = new LightCancellation();
  const queue = createInputRequestQueue();
  let attached: { request: AttachedRequest; onAbort: () => void; settler: PromiseSettler } | undefined;
  let outcome: Outcome | undefined;
  let hasSlot = false;
  let isSendingRound = false;

  function detach(): PromiseSettler | undefined {
    const previous = attached;
    attached = undefined;
    previous?.request.signal.removeEventListener('abort', previous.onAbort);
    return previous?.settler;
  }

  function cancel(reason: Error): void {
    queue.rejectAll(reason);
    signal.abort(reason);
    detach()?.reject(reason);
    onClosed();
  }

  function deliver(): void {
    if (!outcome || !attached || isSendingRound) return;
    const settler = detach();
    if ('text' in outcome) settler?.resolve(outcome.text);
    else settler?.reject(outcome.error);
    onClosed();
  }

  /** Who is to be told questions: nobody is once there is a result. */
  function currentRequest(): AttachedRequest | undefined {
    return outcome ? undefined : attached?.request;
  }

  /** Those that are there by now, together; the others with the next round. */
  async function sendRound(): Promise<void> {
    if (isSendingRound || !currentRequest()) return;
    isSendingRound = true;
    try {
      await new Promise<void>((resolve) => void clock.timer(BATCH_WINDOW_MS, resolve));
      const request = currentRequest();
      // Gone meanwhile; or it was answered, which is what the client hears.
      if (!request) return;
      const capabilities = filterCapabilities(request.capabilities, ['sampling', 'roots']);
      const requests = queue.drainPending(({ method, params }) =>
        isServerRequestAllowed(capabilities, method, params),
      );
      if (requests.length === 0) return;
      const text = await suspend(toInputRequests(requests));
      detach()?.resolve(text);
    } catch (error) {
      queue.rejectAll(error as Error);
    } finally {
      isSendingRound = false;
      deliver();
      // Another request waits by now, or another question came while this round was told.
      if (currentRequest() && queue.hasPending) void sendRound();
    }
  }

  return {
    signal,
    onProgress: (params) => attached?.request.onProgress?.(params),
    onLog: (params) => attached?.request.onLog?.(params),
    async sendRequest(method, params, requestSignal) {
      if (!hasSlot) reserveSlot();
      hasSlot = true;
      const response = queue.add({ method, params }, requestSignal, attached !== undefined);
      void sendRound();
      return response;
    },
    settle(promise) {
      promise
        .then(
          (text): Outcome =>
            attached || text.length <= MAX_STORED_RESULT_LENGTH ? { text } : { error: resultTooLarge() },
          (error: unknown): Outcome => ({ error: error as Error }),
        )
        .then((settled) => {
          outcome = settled;
          deliver();
        })
        .catch(() => undefined);
    },
    attach: (request) =>
      new Promise((resolve, reject) => {
        const onAbort = () => cancel(abortReason(request.signal));
        attached = { request, onAbort, settler: { resolve, reject } };
        if (request.signal.aborted) return onAbort();
        request.signal.addEventListener('abort', onAbort);
        deliver();
        if (queue.hasPending) void sendRound();
      }),
    provideResponses: (responses) => queue.resolveResponses(responses),
    cancel,
  };
}

function resultTooLarge(): Error {
  return new GatewayError('MCP_RESPONSE_TOO_LARGE', {
    detail: 'The result arrived while no client was waiting and was too large to store.',
  });
}

type Outcome = { readonly text: string } | { readonly error: Error };

interface PromiseSettler {
  readonly resolve: (text: string) => void;
  readonly reject: (error: Error) => void;
}

function toInputRequests(requests: readonly InputRequest[]): JsonObject {
  return Object.fromEntries(
    requests.map(({ key, method, params }) => {
      // The modern era has no name for a page: the answer finds it by the key.
      const { elicitationId: _id, ...requestParams } = params;
      return [
        key,
        {
          method,
          ...(isObject(requestParams) && Object.keys(requestParams).length > 0 && { params: requestParams }),
        },
      ];
    }),
  );
}

import { GatewayError, type JsonObject, filterCapabilities, isServerRequestAllowed } from '@behalf/gateway';
import { type Cancellation, type Clock, LightCancellation, abortReason } from '@behalf/kernel';
import { isObject } from '../rpc.ts';

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

interface SuspendedCallParts {
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

interface InputRequest {
  readonly key: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** The questions of one call: those that wait to be told, and those that wait for an answer. */
interface InputRequestQueue {
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

function createInputRequestQueue(): InputRequestQueue {
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

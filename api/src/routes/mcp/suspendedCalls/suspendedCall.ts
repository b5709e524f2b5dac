import { GatewayError, type JsonObject, filterCapabilities, isServerRequestAllowed } from '@behalf/gateway';
import {
  type Cancellation,
  type Clock,
  LightCancellation,
  abortReason,
  isObject,
  sleep,
} from '@behalf/kernel';

/** The client request that currently waits for the call. */
export interface AttachedRequest {
  /** Aborts if the client disconnects. This cancels the call. */
  readonly signal: Cancellation;
  /** The capabilities that this request declared. */
  readonly capabilities: JsonObject;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  readonly onLog?: ((params: JsonObject) => void) | undefined;
}

interface SuspendedCallParts {
  readonly clock: Clock;
  /** Runs before the first input request. Throws if there are too many suspended calls. */
  readonly reserveSlot: () => void;
  /** Makes the call resumable. Returns the `input_required` result for the client. */
  readonly suspend: (inputRequests: JsonObject) => Promise<string>;
  /** The call has ended: with a result, an error or a cancellation. */
  readonly onClosed: () => void;
}

/** A server may send several requests at once. Requests in this window are sent to the client in one round. */
const BATCH_WINDOW_MS = 30;
/** A result that arrives while no client request is attached is stored up to this size. */
const MAX_STORED_RESULT_LENGTH = 256 * 1024;

export type SuspendedCall = ReturnType<typeof createSuspendedCall>;

/** One call to a legacy server that stays open while its modern client collects the responses to input requests. */
export function createSuspendedCall({ clock, reserveSlot, suspend, onClosed }: SuspendedCallParts) {
  const signal = new LightCancellation();
  const queue = createInputRequestQueue();
  let attached: { request: AttachedRequest; onAbort: () => void; settler: PromiseSettler } | undefined;
  let outcome: { readonly text: string } | { readonly error: Error } | undefined;
  let hasSlot = false;
  let isSendingRound = false;

  function detach(): PromiseSettler | undefined {
    const previous = attached;
    attached = undefined;
    previous?.request.signal.removeEventListener('abort', previous.onAbort);
    return previous?.settler;
  }

  /** Ends the call and cancels the request to the server. */
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

  /** The request that can receive input requests. None once there is an outcome. */
  function currentRequest(): AttachedRequest | undefined {
    return outcome ? undefined : attached?.request;
  }

  /** Sends all pending input requests in one round. Requests that arrive later are sent in the next round. */
  async function sendRound(): Promise<void> {
    if (isSendingRound || !currentRequest()) return;
    isSendingRound = true;
    try {
      await sleep(clock, BATCH_WINDOW_MS);
      const request = currentRequest();
      // The client may have disconnected, or the call may have ended.
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
      // Another client request may be attached, and more input requests may be pending.
      if (currentRequest() && queue.hasPending) void sendRound();
    }
  }

  return {
    /** The signal of the request to the server. */
    signal,
    onProgress: (params: JsonObject): void => attached?.request.onProgress?.(params),
    onLog: (params: JsonObject): void => attached?.request.onLog?.(params),
    /** Sends a request of the server to the client, now or when the next client request is attached. */
    async sendRequest(method: string, params: JsonObject, requestSignal: Cancellation): Promise<JsonObject> {
      if (!hasSlot) reserveSlot();
      hasSlot = true;
      const response = queue.add({ method, params }, requestSignal, attached !== undefined);
      void sendRound();
      return response;
    },
    /** Takes the outcome of the request to the server. */
    settle(promise: Promise<string>): void {
      void promise
        .then(
          (text) => {
            if (attached || text.length <= MAX_STORED_RESULT_LENGTH) return { text };
            const detail = 'The result arrived while no client was waiting and was too large to store.';
            return { error: new GatewayError('MCP_RESPONSE_TOO_LARGE', { detail }) };
          },
          (error: unknown) => ({ error: error as Error }),
        )
        .then((settled) => {
          outcome = settled;
          deliver();
        });
    },
    /** Attaches a client request. Resolves with the result of the call, or with the next input requests. */
    attach: (request: AttachedRequest): Promise<string> =>
      new Promise((resolve, reject) => {
        const onAbort = () => cancel(abortReason(request.signal));
        attached = { request, onAbort, settler: { resolve, reject } };
        if (request.signal.aborted) return onAbort();
        request.signal.addEventListener('abort', onAbort);
        deliver();
        if (queue.hasPending) void sendRound();
      }),
    /** Takes the client's responses to the last round. A missing response rejects its request. */
    provideResponses: (responses: JsonObject): void => queue.resolveResponses(responses),
    cancel,
  };
}

interface PromiseSettler {
  readonly resolve: (text: string) => void;
  readonly reject: (error: Error) => void;
}

function toInputRequests(requests: readonly InputRequest[]): JsonObject {
  return Object.fromEntries(
    requests.map(({ key, method, params }) => {
      // The modern era identifies a URL elicitation by its key and defines no `elicitationId`.
      const { elicitationId: _id, ...rest } = params;
      return [key, { method, ...(Object.keys(rest).length > 0 && { params: rest }) }];
    }),
  );
}

interface InputRequest {
  readonly key: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** Limits the memory that a server can fill with requests while no client request is attached. */
const MAX_PENDING_LENGTH = 64 * 1024;

interface QueuedRequest {
  readonly request: InputRequest;
  readonly resolve: (response: JsonObject) => void;
  readonly reject: (reason: Error) => void;
  /** The share of the memory limit that the request uses until it is sent. */
  readonly pendingLength: number;
  isSent: boolean;
}

/** The input requests of one call: those that are not sent yet, and those that wait for a response. */
function createInputRequestQueue() {
  const queue = new Map<string, QueuedRequest>();
  let requestCount = 0;
  const pending = () => [...queue.values()].filter(({ isSent }) => !isSent);

  return {
    get hasPending(): boolean {
      return pending().length > 0;
    },
    /** Returns the response. `isAttached`: a client waits, so the request does not count towards the memory limit. */
    add: (input: Omit<InputRequest, 'key'>, signal: Cancellation, isAttached: boolean): Promise<JsonObject> =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(abortReason(signal));
        requestCount += 1;
        const key = `q${requestCount}`;
        const pendingLength = isAttached ? 0 : JSON.stringify(input.params).length;
        if (pending().reduce((sum, queued) => sum + queued.pendingLength, pendingLength) > MAX_PENDING_LENGTH)
          return reject(new Error('The pending input requests are too large'));
        const settle =
          <T>(work: (value: T) => void) =>
          (value: T) => {
            signal.removeEventListener('abort', onAbort);
            queue.delete(key);
            work(value);
          };
        const queued: QueuedRequest = {
          ...{ request: { ...input, key }, pendingLength, isSent: false },
          ...{ resolve: settle(resolve), reject: settle(reject) },
        };
        const onAbort = () => queued.reject(abortReason(signal));
        signal.addEventListener('abort', onAbort);
        queue.set(key, queued);
      }),
    /** Marks the pending requests as sent and returns those that are allowed. Rejects the others. */
    drainPending(isAllowed: (request: InputRequest) => boolean): readonly InputRequest[] {
      const allowedRequests: InputRequest[] = [];
      for (const queued of pending()) {
        queued.isSent = true;
        if (isAllowed(queued.request)) allowedRequests.push(queued.request);
        else queued.reject(new Error('The client does not support this input request'));
      }
      return allowedRequests;
    },
    /** Resolves the sent requests. Rejects those without a response. */
    resolveResponses(responses: JsonObject): void {
      for (const [key, { resolve, reject, isSent }] of [...queue]) {
        if (!isSent) continue;
        const result = Object.hasOwn(responses, key) ? responses[key] : undefined;
        if (!isObject(result)) {
          reject(new Error('The client did not respond'));
          continue;
        }
        // Legacy results have no `resultType`.
        const { resultType: _kind, ...response } = result;
        resolve(response);
      }
    },
    rejectAll(reason: Error): void {
      for (const { reject } of [...queue.values()]) reject(reason);
    },
  };
}

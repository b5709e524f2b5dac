import { abortReason, type Cancel, type Clock } from '@behalf/kernel';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { objectOrEmpty, readResponse } from '../messages.ts';
import type { Bearer } from '../target.ts';
import type { UpstreamResponse, Era, JsonObject, UpstreamRequestOptions } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import type { Channel } from './openChannelUpstream.ts';
import {
  MAX_DIALOGUE_MS,
  type RpcResponseBody,
  type ServerRequests,
  createServerRequests,
} from '../dialogue.ts';
import { TokenUnavailableError } from '../bearer.ts';

interface PeerParts {
  readonly clock: Clock;
  /** As far as it is known yet: it decides how an answer is read. */
  readonly getEra: () => Era;
  /** Whether it is one user's alone: then a question that comes while one call is under way is that call's. */
  readonly isSingleUser?: boolean;
  /** Answers what the server asks and nobody is asked. */
  readonly createResponse: (method: string, params: JsonObject) => RpcResponseBody;
  /** A notification that no request of ours claims. */
  readonly onNotification: (method: string, params: JsonObject) => void;
  /** Of whoever opened the channel, until a request presents another. */
  readonly bearer?: Bearer | undefined;
}

export interface PeerRequest extends Omit<UpstreamRequestOptions, 'headers' | 'extraHeaders'> {
  /** A subscription: nobody's call, however long it waits. */
  readonly isSubscription?: boolean;
}

export interface Peer {
  /** Resolves with what the server answered, as it came. */
  request(method: string, params: JsonObject, options: PeerRequest): Promise<UpstreamResponse>;
  /** Resolves when it was sent, or could not be: nobody waits for an answer. Gives what it was not sent for lack of. */
  notify(method: string, params?: JsonObject): Promise<TokenUnavailableError | undefined>;
  /** The calls that wait for an answer now. */
  readonly activeRequests: readonly PeerRequest[];
  onClose(listener: () => void): void;
}

interface PendingRequest {
  readonly options: PeerRequest;
  /** Where the caller can be asked. */
  readonly serverRequests: ServerRequests | undefined;
  onProgress(params: JsonObject): void;
  onResponse(message: JsonObject): void;
  fail(error: Error): void;
}

/** A server that asks faster than it reads our answers gets none: they would pile up in our memory. */
const MAX_CONCURRENT_RESPONSES = 64;

/**
 * JSON-RPC over one channel, for both sides. The SDK's client would check and copy every result, and its timers know
 * no clock of ours. Progress reaches the request that it names and no other: several users may share the channel.
 */
export function createPeer(
  channel: Channel,
  { clock, getEra, createResponse, onNotification, bearer, isSingleUser = false }: PeerParts,
): Peer {
  const pendingRequests = new Map<unknown, PendingRequest>();
  const closeListeners = new Set<() => void>();
  let nextId = 1;
  let activeResponses = 0;
  let isClosed = false;
  /** The last one that was presented: our answers and notifications go out with it too. */
  let currentBearer = bearer;
  /** Why the channel is about to close, when it knows. */
  let closeCause: UpstreamError | undefined;

  function sendMessage(
    message: object,
    messageBearer = currentBearer,
    shouldSend?: () => boolean,
  ): Promise<void> {
    const rpcMessage = { jsonrpc: '2.0', ...message } as JSONRPCMessage;
    if (!messageBearer) return channel.send(rpcMessage);
    // It would be dropped on the way, and the request run as somebody else's.
    if (!channel.sendWithBearer) return Promise.reject(new UpstreamError('bearer_unsupported'));
    return channel.sendWithBearer(rpcMessage, { bearer: messageBearer, ...(shouldSend && { shouldSend }) });
  }

  channel.onmessage = (message) => receive(message);
  channel.onerror = (error) => {
    if (error instanceof UpstreamError) closeCause = error;
  };
  channel.onrequesterror = (id, error) => pendingRequests.get(id)?.fail(error);
  channel.onclose = () => {
    isClosed = true;
    const requests = [...pendingRequests.values()];
    const hasSingleCall = requests.filter(({ options }) => !options.isSubscription).length === 1;
    // They were sent, and nobody knows what became of them. Of several, nobody knows whose answer was too large either.
    const error =
      closeCause && (closeCause.reason !== 'too_large' || hasSingleCall)
        ? closeCause
        : new UpstreamError('reset', { cause: closeCause });
    for (const request of requests) request.fail(error);
    for (const listener of closeListeners) ignoreErrors(listener);
    closeListeners.clear();
  };

  function receive(message: JsonObject): void {
    const { id, method } = message;
    if (typeof method === 'string') {
      const params = objectOrEmpty(message['params']);
      if (id === undefined) handleNotification(method, params);
      else if (typeof id === 'string' || typeof id === 'number') respond(id, method, params);
      return;
    }
    // Unknown ids are late answers to what was given up.
    pendingRequests.get(id)?.onResponse(message);
  }

  function handleNotification(method: string, params: JsonObject): void {
    if (method === 'notifications/progress') pendingRequests.get(params['progressToken'])?.onProgress(params);
    else if (method === 'notifications/cancelled') {
      for (const { serverRequests } of pendingRequests.values()) serverRequests?.cancel(params['requestId']);
    } else ignoreErrors(() => onNotification(method, params));
  }

  function respond(id: string | number, method: string, params: JsonObject): void {
    if (activeResponses >= MAX_CONCURRENT_RESPONSES) return;
    activeResponses += 1;
    const forwardedResponse = findOnlyCall()?.serverRequests?.forward(id, method, params);
    const sendPromise = forwardedResponse
      ? forwardedResponse.then((response) => sendMessage({ id, ...response }))
      : sendMessage({ id, ...createResponse(method, params) });
    sendPromise.catch(() => undefined).finally(() => (activeResponses -= 1));
  }

  /** The only one, on a channel of one user. Of several, nothing says which one a question belongs to. */
  function findOnlyCall(): PendingRequest | undefined {
    if (!isSingleUser) return undefined;
    const [call, otherCall] = [...pendingRequests.values()].filter(({ options }) => !options.isSubscription);
    return otherCall ? undefined : call;
  }

  async function notify(method: string, params: JsonObject = {}): Promise<TokenUnavailableError | undefined> {
    if (isClosed) return undefined;
    return sendMessage({ method, params }).then(
      () => undefined,
      (error: unknown) => (error instanceof TokenUnavailableError ? error : undefined),
    );
  }

  return {
    get activeRequests() {
      return [...pendingRequests.values()]
        .map(({ options }) => options)
        .filter(({ isSubscription }) => !isSubscription);
    },
    notify,
    onClose(listener) {
      // It may have ended before anybody could listen.
      if (isClosed) listener();
      else closeListeners.add(listener);
    },
    request: (method, params, options) =>
      new Promise((resolve, reject) => {
        const { signal } = options;
        if (signal.aborted) return reject(abortReason(signal));
        if (isClosed) return reject(new UpstreamError('ended', { cause: closeCause }));
        const requestBearer = options.bearer ?? currentBearer;
        // What was opened without one may be everybody's: there it serves the request that brought it, and no other.
        if (bearer) currentBearer = requestBearer;
        const id = nextId;
        nextId += 1;
        const startedAt = clock.now();
        const maxDeadline = startedAt + Math.max(options.totalMs, MAX_DIALOGUE_MS);
        let totalDeadline = startedAt + options.totalMs;
        let lastActivityAt = startedAt;
        /** People who are asked at this moment, and since when anybody is. */
        let pendingPrompts = 0;
        let promptedAt = 0;
        /** Until its token is at hand nothing of it is on its way. */
        let isWaitingForToken = requestBearer !== undefined;
        let cancelTimer: Cancel = () => undefined;

        const cleanUp = () => {
          pendingRequests.delete(id);
          cancelTimer();
          serverRequests?.close();
          signal.removeEventListener('abort', onAbort);
        };
        const fail = (error: Error) => {
          cleanUp();
          reject(error);
        };
        const cancel = (error: Error, reason: string) => {
          fail(error);
          if (isWaitingForToken) return;
          // The protocol forbids cancelling the handshake.
          if (method !== 'initialize') void notify('notifications/cancelled', { requestId: id, reason });
        };
        const onAbort = () => cancel(abortReason(signal), 'Canceled by the caller');
        // Progress only notes the time: a server that reports a thousand times a second starts no thousand timers.
        const checkDeadline = () => {
          const nextDeadline =
            pendingPrompts > 0 ? maxDeadline : Math.min(lastActivityAt + options.timeoutMs, totalDeadline);
          const remainingMs = nextDeadline - clock.now();
          if (remainingMs <= 0)
            cancel(new UpstreamError(isWaitingForToken ? 'token_timeout' : 'timeout'), 'Request timed out');
          // A subscription has no end, and must not keep the process alive.
          else if (remainingMs < Infinity)
            cancelTimer = clock.timer(remainingMs, checkDeadline, { keepAlive: true });
        };

        /** Time that a person takes is not the server's silence. */
        const withPausedTimeout = async <T>(userResponse: Promise<T>): Promise<T> => {
          if (pendingPrompts === 0) promptedAt = clock.now();
          pendingPrompts += 1;
          try {
            return await userResponse;
          } finally {
            pendingPrompts -= 1;
            if (pendingPrompts === 0 && pendingRequests.has(id)) {
              lastActivityAt = clock.now();
              totalDeadline = Math.min(totalDeadline + lastActivityAt - promptedAt, maxDeadline);
              cancelTimer();
              checkDeadline();
            }
          }
        };
        const { dialogue } = options;
        const serverRequests =
          dialogue?.era === 'legacy' ? createServerRequests({ dialogue, withPausedTimeout }) : undefined;

        pendingRequests.set(id, {
          options,
          serverRequests,
          fail,
          onProgress(progress) {
            lastActivityAt = clock.now();
            ignoreErrors(() => options.onProgress?.(progress));
          },
          onResponse(message) {
            cleanUp();
            try {
              resolve(readResponse(message, id, getEra()));
            } catch (error) {
              reject(error instanceof UpstreamError ? error : new UpstreamError('invalid_response'));
            }
          },
        });
        signal.addEventListener('abort', onAbort);
        checkDeadline();
        const _meta = { ...objectOrEmpty(params['_meta']), ...options.meta, progressToken: id };
        const shouldSend = () => {
          isWaitingForToken = false;
          return pendingRequests.has(id);
        };
        sendMessage({ id, method, params: { ...params, _meta } }, requestBearer, shouldSend).catch(
          (error: unknown) => {
            if (!pendingRequests.has(id)) return;
            const isKnownError = error instanceof UpstreamError || error instanceof TokenUnavailableError;
            fail(isKnownError ? error : new UpstreamError('reset', { cause: error }));
          },
        );
      }),
  };
}

/** A listener that throws must not break the reading of the channel. */
function ignoreErrors(callback: () => void): void {
  try {
    callback();
  } catch {
    // Its own affair.
  }
}

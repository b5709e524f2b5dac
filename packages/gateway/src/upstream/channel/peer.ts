import { type Clock, abortReason } from '@behalf/kernel';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { TokenUnavailableError } from '../bearer.ts';
import { type ServerRequests, createDefaultResponse, createServerRequests } from '../dialogue.ts';
import { objectOrEmpty, readResponse } from '../messages.ts';
import { type RequestDeadline, createCloseState, withRequestDeadline } from '../requestDeadline.ts';
import type { Bearer } from '../target.ts';
import type { Era, JsonObject, UpstreamRequestOptions, UpstreamResponse } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import type { Channel } from './openChannelUpstream.ts';

export interface PeerRequest extends Omit<UpstreamRequestOptions, 'headers' | 'extraHeaders'> {
  /** A subscription that never ends. It does not count as a call. */
  readonly isSubscription?: boolean;
}

interface PendingRequest {
  readonly options: PeerRequest;
  readonly serverRequests: ServerRequests | undefined;
  onProgress(params: JsonObject): void;
  onResponse(message: JsonObject): void;
  fail(error: Error): void;
}

/** Limits memory: a server could send requests faster than it reads the responses. */
const MAX_CONCURRENT_RESPONSES = 64;

export type Peer = ReturnType<typeof createPeer>;

/**
 * JSON-RPC in both directions over one channel. The client of the SDK is not used: it validates and copies every result
 * and its timers do not use our clock. Progress reaches only the request that it names, because several users can share
 * the channel.
 */
export function createPeer(
  channel: Channel,
  parts: {
    readonly clock: Clock;
    /** The era that is known so far. */
    readonly getEra: () => Era;
    /** The channel belongs to one user: a server request during a single call then belongs to that call. */
    readonly isSingleUser?: boolean;
    /** Receives notifications that belong to no request. */
    readonly onNotification: (method: string, params: JsonObject) => void;
    /** Token source of the user that opened the channel. Requests can replace it. */
    readonly bearer?: Bearer | undefined;
  },
) {
  const { clock, getEra, onNotification, bearer, isSingleUser = false } = parts;
  const pendingRequests = new Map<unknown, PendingRequest>();
  const closeState = createCloseState();
  let lastId = 0;
  let activeResponses = 0;
  /** The last presented token source. Responses and notifications use it as well. */
  let currentBearer = bearer;
  /** Why the channel is closing, if known. */
  let closeCause: UpstreamError | undefined;

  function sendMessage(
    message: object,
    messageBearer = currentBearer,
    shouldSend?: () => boolean,
  ): Promise<void> {
    const rpcMessage = { jsonrpc: '2.0', ...message } as JSONRPCMessage;
    if (!messageBearer) return channel.send(rpcMessage);
    // Without the token the request would run with another identity.
    if (!channel.sendWithBearer) return Promise.reject(new UpstreamError('bearer_unsupported'));
    return channel.sendWithBearer(rpcMessage, { bearer: messageBearer, ...(shouldSend && { shouldSend }) });
  }

  const listCalls = () =>
    [...pendingRequests.values()].filter(({ options }) => options.isSubscription !== true);

  channel.onmessage = (message) => receive(message);
  channel.onerror = (error) => {
    if (error instanceof UpstreamError) closeCause = error;
  };
  channel.onrequesterror = (id, error) => pendingRequests.get(id)?.fail(error);
  channel.onclose = () => {
    // Requests were sent, and their outcome is unknown. An oversized response is attributed only if one call is active.
    const isAttributable = closeCause?.reason !== 'too_large' || listCalls().length === 1;
    const error =
      closeCause && isAttributable ? closeCause : new UpstreamError('reset', { cause: closeCause });
    for (const request of [...pendingRequests.values()]) request.fail(error);
    closeState.markClosed();
  };

  function receive(message: JsonObject): void {
    const { id, method } = message;
    if (typeof method === 'string') {
      const params = objectOrEmpty(message['params']);
      if (id === undefined) handleNotification(method, params);
      else if (typeof id === 'string' || typeof id === 'number') respond(id, method, params);
      return;
    }
    // A response with an unknown id belongs to a request that was aborted.
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
    // Only on a channel of one user with one call does a request of the server belong to a known call.
    const [call, anotherCall] = isSingleUser ? listCalls() : [];
    const forwarded = anotherCall ? undefined : call?.serverRequests?.forward(id, method, params);
    const sent = forwarded
      ? forwarded.then((response) => sendMessage({ id, ...response }))
      : sendMessage({ id, ...createDefaultResponse(method) });
    sent.catch(() => undefined).finally(() => (activeResponses -= 1));
  }

  /** Resolves when the notification was sent or failed, with the error if the bearer had no token. */
  async function notify(method: string, params: JsonObject = {}): Promise<TokenUnavailableError | undefined> {
    if (closeState.isClosed) return undefined;
    return sendMessage({ method, params }).then(
      () => undefined,
      (error: unknown) => (error instanceof TokenUnavailableError ? error : undefined),
    );
  }

  function exchange(
    id: number,
    method: string,
    params: JsonObject,
    options: PeerRequest,
    requestBearer: Bearer | undefined,
    deadline: RequestDeadline,
  ): Promise<UpstreamResponse> {
    return new Promise((resolve, reject) => {
      const { dialogue } = options;
      const serverRequests =
        dialogue?.era === 'legacy'
          ? createServerRequests(dialogue, (userResponse) => deadline.withPausedTimeout(userResponse))
          : undefined;
      const finish = () => {
        pendingRequests.delete(id);
        serverRequests?.close();
      };
      const fail = (error: Error) => {
        finish();
        reject(error);
      };
      pendingRequests.set(id, {
        options,
        serverRequests,
        fail,
        onProgress(progress) {
          deadline.resetIdleTimeout();
          ignoreErrors(() => options.onProgress?.(progress));
        },
        onResponse(message) {
          finish();
          try {
            resolve(readResponse(message, id, getEra()));
          } catch (error) {
            reject(error instanceof UpstreamError ? error : new UpstreamError('invalid_response'));
          }
        },
      });
      deadline.signal.addEventListener('abort', finish);
      deadline.isWaitingForToken = requestBearer !== undefined;
      const shouldSend = () => {
        deadline.isWaitingForToken = false;
        return pendingRequests.has(id);
      };
      const _meta = { ...objectOrEmpty(params['_meta']), ...options.meta, progressToken: id };
      sendMessage({ id, method, params: { ...params, _meta } }, requestBearer, shouldSend).catch(
        (error: unknown) => {
          const isKnownError = error instanceof UpstreamError || error instanceof TokenUnavailableError;
          fail(isKnownError ? error : new UpstreamError('reset', { cause: error }));
        },
      );
    });
  }

  return {
    /** The calls that wait for a response. Subscriptions are not included. */
    get activeRequests(): readonly PeerRequest[] {
      return listCalls().map(({ options }) => options);
    },
    notify,
    onClose: (listener: () => void) => closeState.onClose(listener),
    request(method: string, params: JsonObject, options: PeerRequest): Promise<UpstreamResponse> {
      if (options.signal.aborted) return Promise.reject(abortReason(options.signal));
      if (closeState.isClosed) return Promise.reject(new UpstreamError('ended', { cause: closeCause }));
      const requestBearer = options.bearer ?? currentBearer;
      // A channel that was opened without a bearer may be shared: a bearer then serves its own request only.
      if (bearer) currentBearer = requestBearer;
      const id = (lastId += 1);
      const cancelAtServer = (reason: string) => {
        // The protocol forbids canceling `initialize`.
        if (method !== 'initialize') void notify('notifications/cancelled', { requestId: id, reason });
      };
      return withRequestDeadline(
        { clock, inFlight: closeState.inFlight, keepAlive: true },
        options,
        cancelAtServer,
        (deadline) => exchange(id, method, params, options, requestBearer, deadline),
      );
    },
  };
}

/** An error of a listener must not stop reading the channel. */
function ignoreErrors(callback: () => void): void {
  try {
    callback();
  } catch {
    // Errors of a listener concern only that listener.
  }
}

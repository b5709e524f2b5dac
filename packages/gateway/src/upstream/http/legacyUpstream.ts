import { ActiveSet, type SendResponse, isObject } from '@behalf/kernel';
import { type PresentedCredential, sendWithCredential } from '../bearer.ts';
import { type Dialogue, type ServerRequests, createServerRequests } from '../dialogue.ts';
import { objectOrEmpty } from '../messages.ts';
import {
  createNotificationListeners,
  createServerRequestResponder,
  getAnnouncedLists,
  toChangeNotification,
} from '../notifications.ts';
import { createCloseState, withRequestDeadline } from '../requestDeadline.ts';
import { createServerLog, createSessionLogLevel } from '../serverLog.ts';
import type { Bearer, OpenOptions, RemoteTarget } from '../target.ts';
import type { HeaderValues, Upstream, UpstreamParts, UpstreamResponse } from '../upstream.ts';
import { UpstreamError, type UpstreamReason } from '../upstreamError.ts';
import { isTemporaryStatus } from './errors.ts';
import {
  type LegacyHandshake,
  endSession,
  performLegacyHandshake,
  sendBestEffort,
  toConnectError,
} from './legacyHandshake.ts';
import { type RpcParts, sendRpc } from './sendRpc.ts';
import { POST_HEADERS, isEmpty, serializeRequest } from './serializeRequest.ts';
import {
  type LegacySession,
  type SessionRequest,
  createLegacySession,
  createLegacySessions,
  createSessionGetStream,
} from './session.ts';
import { maintainStream } from './stream.ts';

const NOTIFICATION_TIMEOUT_MS = 10_000;

/**
 * A legacy upstream over streamable HTTP: a session at the server, replaced when the server loses it.
 *
 * - A request carries the token of its caller. The last presented credential serves streams, cancellations and the end
 *   of the session. Tokens are never stored, only their source.
 * - Messages on the GET stream belong to no request. They reach a user only if the session belongs to that user and has
 *   a single request in progress.
 */
export function createLegacyUpstream(
  target: RemoteTarget,
  initialHandshake: LegacyHandshake,
  options: Pick<OpenOptions, 'server' | 'owner' | 'initTimeoutMs' | 'relay'>,
  parts: UpstreamParts,
): Upstream {
  const { server, owner, initTimeoutMs: timeoutMs, relay } = options;
  const { clock, log, network } = parts;
  const closeState = createCloseState();
  const closeController = new AbortController();
  const listeners = createNotificationListeners();
  const activeServerRequests = new Set<ServerRequests>();
  const sessionLogLevel = createSessionLogLevel(clock);
  let currentHeaders: HeaderValues | undefined;
  let currentBearer: Bearer | undefined = target.bearer;
  let hasReplacedSession = false;
  let lastId = 0;
  const nextId = () => (lastId += 1);
  const send = network.sendTo(target);
  const post = (body: string, headers: HeaderValues, requestBearer = currentBearer) =>
    sendBestEffort(
      { send, clock },
      { method: 'POST', url: target.url, headers, body },
      NOTIFICATION_TIMEOUT_MS,
      requestBearer,
    );
  const rpcParts: RpcParts = {
    send,
    clock,
    readError: network.readError,
    responder: createServerRequestResponder(post),
    onNotification: (notification) => listeners.emit(notification),
  };
  const sessions = createLegacySessions(createLegacySession(initialHandshake, target.headers), {
    nextId,
    open: reopenSession,
    retire: (session) => void endSessionBestEffort(session),
    onRenewed: () => listeners.emitSessionRenewed(),
    sendOn(session, { id, body, options, deadline, serverRequests }) {
      const rpc = {
        url: target.url,
        era: 'legacy' as const,
        id,
        headers: session.headersFor(options),
        // If the target has a bearer, a request never goes out without one.
        bearer: options.bearer ?? currentBearer,
        body,
        hasSession: session.id !== undefined,
        onProgress: options.onProgress,
        onLog: options.onLog,
        serverRequests,
      };
      return sendRpc(rpcParts, rpc, deadline);
    },
  });
  const stream = createSessionGetStream({ clock, current: () => sessions.current, open: openGetStream });
  // The server may keep the stream open forever.
  closeState.onClose(() => stream.close());

  const getSessionCredential = ({ sessionHeaders }: LegacySession): PresentedCredential => ({
    headers: { ...target.headers, ...currentHeaders, ...sessionHeaders },
    bearer: currentBearer,
  });

  function updateCredential({ headers, bearer: presentedBearer }: PresentedCredential): void {
    if (headers !== undefined) currentHeaders = headers;
    // An upstream that was opened without a bearer may be shared: a bearer then serves its own request only.
    if (presentedBearer !== undefined && target.bearer) currentBearer = presentedBearer;
  }

  async function endSessionBestEffort(session: LegacySession): Promise<void> {
    if (session.id !== undefined) await endSession(target, getSessionCredential(session), session.id, parts);
  }

  async function reopenSession({
    headers: presented,
    bearer: presentedBearer = currentBearer,
  }: PresentedCredential): Promise<LegacySession> {
    // A concurrent caller has lost the session before and could not open a new one.
    if (closeState.isClosed) throw new UpstreamError('ended');
    const limits = { signal: closeController.signal, timeoutMs, totalMs: timeoutMs };
    const credential = { headers: { ...target.headers, ...presented }, bearer: presentedBearer };
    try {
      const handshake = await withRequestDeadline(
        { clock, inFlight: new ActiveSet() },
        limits,
        noop,
        (deadline) => performLegacyHandshake(target, credential, parts, { deadline, timeoutMs, relay }),
      );
      const session = createLegacySession(handshake, target.headers);
      stream.switchTo(session);
      return session;
    } catch (error) {
      // The server responds, but no longer supports this revision. The next connection negotiates again.
      if (error instanceof UpstreamError && UNSUPPORTED_PROTOCOL_REASONS.has(error.reason))
        closeState.markClosed();
      throw toConnectError(error);
    }
  }

  /** Handles 409: the server assumes that another stream uses the session. Returns whether the session is replaced. */
  function replaceConflictingSession(session: LegacySession): boolean {
    // Replacing ends the session, which would break a call. A call works without the stream.
    if (listeners.size === 0 || closeState.inFlight.size > 0) return false;
    // Only once: a server that always reports a conflict must not receive session after session.
    if (!hasReplacedSession) {
      hasReplacedSession = true;
      void endSessionBestEffort(session)
        .then(() => sessions.renew(session, { headers: currentHeaders, bearer: currentBearer }, false))
        .catch(noop);
    }
    return true;
  }

  function openGetStream(session: LegacySession, onOpenAttempted: () => void): () => void {
    let isStopped = false;
    const serverLog = createServerLog({ clock, log, server, owner: undefined });

    async function open(signal: AbortSignal, lastEventId: string): Promise<SendResponse | null> {
      if (!session.offersStream) return null;
      const { headers: baseHeaders, bearer } = getSessionCredential(session);
      const resumeHeaders = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
      const headers = { ...baseHeaders, accept: 'text/event-stream', ...resumeHeaders };
      const reply = await sendWithCredential(
        send,
        { method: 'GET', url: target.url, headers, signal },
        bearer,
      );
      const { status } = reply;
      if (status === 200 && reply.isEventStream) return reply;
      void reply.discard();
      if (isTemporaryStatus(status) || (status === 409 && !replaceConflictingSession(session)))
        throw new Error('Stream temporarily unavailable');
      session.offersStream = false;
      if (status !== 404 && status !== 405 && status !== 406 && status !== 409)
        log('upstream_stream_refused', { server, status });
      return null;
    }

    const stop = maintainStream(parts, {
      idleTimeoutMs: target.sseReadTimeoutMs,
      open: (signal, lastEventId) => open(signal, lastEventId).finally(onOpenAttempted),
      onOpenChange(isOpen) {
        if (isStopped) return;
        listeners.setSubscribedLists(isOpen ? getAnnouncedLists(session.claims.capabilities) : []);
      },
      onMessage(message) {
        if (message.method === undefined) return true;
        if (message.id !== undefined) {
          rpcParts.responder.respond(message, {
            headers: { ...getSessionCredential(session).headers, ...POST_HEADERS },
            serverRequests: findOnlyServerRequests(),
          });
        } else if (message.method === 'notifications/message') {
          serverLog.receive(objectOrEmpty(message.params), []);
        } else {
          const notification = toChangeNotification(message);
          if (notification) listeners.emit(notification);
        }
        return true;
      },
    });
    return () => {
      isStopped = true;
      stop();
      serverLog.close();
      listeners.setSubscribedLists([]);
    };
  }

  /**
   * Some servers send requests on the GET stream instead of the stream of a call. On a session of one user with one
   * request in progress they can only belong to that request.
   */
  function findOnlyServerRequests(): ServerRequests | undefined {
    const [only] = activeServerRequests;
    return owner !== undefined && closeState.inFlight.size === 1 ? only : undefined;
  }

  /** Forwards requests of the server to the caller until the call ends or the caller aborts. */
  async function sendWithDialogue(
    dialogue: Dialogue | undefined,
    request: SessionRequest,
  ): Promise<UpstreamResponse> {
    if (dialogue?.era !== 'legacy') return sessions.send(request);
    const { deadline } = request;
    const serverRequests = createServerRequests(dialogue, (userResponse) =>
      deadline.withPausedTimeout(userResponse),
    );
    deadline.signal.addEventListener('abort', serverRequests.close);
    activeServerRequests.add(serverRequests);
    const sendOnce = () => sessions.send({ ...request, serverRequests });
    try {
      return await (owner === undefined || isEmpty(dialogue.capabilities)
        ? sendOnce()
        : stream.withStream(sendOnce));
    } finally {
      activeServerRequests.delete(serverRequests);
      serverRequests.close();
    }
  }

  /** Sets the log level of the session before the request. */
  function withLogLevel<T>(
    logLevel: string,
    { options, deadline }: SessionRequest,
    work: () => Promise<T>,
  ): Promise<T> {
    const { onLog: _log, onProgress: _progress, dialogue: _dialogue, ...silentOptions } = options;
    return sessionLogLevel.withLevel(logLevel, sessions.current, work, async (level, session) => {
      const id = nextId();
      const body = serializeRequest({ id, method: 'logging/setLevel', params: { level } });
      const rpc = { id, body, options: silentOptions, deadline };
      await sessions.sendOn(session, rpc);
    });
  }

  return {
    get claims() {
      return sessions.current.claims;
    },
    request(method, params, options) {
      if (closeState.isClosed) return Promise.reject(new UpstreamError('ended'));
      const id = nextId();
      updateCredential(options);
      const body = serializeRequest({ id, method, params, meta: options.meta });
      const sendCancellation = (reason: string) => {
        const params = { requestId: id, reason };
        const notification = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
        void post(notification, sessions.current.headersFor(options), options.bearer);
      };
      const { dialogue, logLevel } = options;
      return withRequestDeadline(
        { clock, inFlight: closeState.inFlight },
        options,
        sendCancellation,
        (deadline) => {
          const request = { id, body, options, deadline };
          if (dialogue === undefined && logLevel === undefined) return sessions.send(request);
          const sendInDialogue = () => sendWithDialogue(dialogue, request);
          const supportsLogging = isObject(sessions.current.claims.capabilities['logging']);
          return logLevel === undefined || !supportsLogging
            ? sendInDialogue()
            : withLogLevel(logLevel, request, sendInDialogue);
        },
      );
    },
    listen(listener, { headers, bearer, ...listenerOptions }) {
      const removeListener = listeners.add(listener, listenerOptions);
      updateCredential({ headers, bearer });
      const release = stream.acquire();
      return () => {
        removeListener();
        release();
      };
    },
    onClose: (listener) => closeState.onClose(listener),
    async close() {
      if (!closeState.markClosed()) return;
      closeController.abort();
      closeState.abortInFlight();
      await endSessionBestEffort(sessions.current);
    },
  };
}

function noop(): void {
  // Intentionally empty.
}

/** Responses to `initialize` from a server that dropped the legacy revisions. */
const UNSUPPORTED_PROTOCOL_REASONS: ReadonlySet<UpstreamReason> = new Set([
  'rpc_error',
  'invalid_response',
  'bad_request',
  'wrong_url',
  'header_mismatch',
]);

import { ActiveSet } from '@behalf/kernel';
import { type Dialogue, type ServerRequests, createServerRequests } from '../dialogue.ts';
import type {
  HeaderValues,
  JsonObject,
  ListKind,
  Upstream,
  UpstreamParts,
  UpstreamResponse,
} from '../upstream.ts';
import type { Bearer, OpenOptions, RemoteTarget } from '../target.ts';
import type { PresentedCredential } from '../bearer.ts';
import {
  createNotificationListeners,
  createServerRequestResponder,
  filterNotifications,
  getAnnouncedLists,
} from '../notifications.ts';
import { UpstreamError, type UpstreamReason } from '../upstreamError.ts';
import {
  type LegacySession,
  type SessionRequest,
  type SessionSendParts,
  createLegacySession,
  createLegacySessions,
  sendWithSessionRenewal,
} from './session.ts';
import { sendRpc, type RpcParts } from './sendRpc.ts';
import { abortInFlight, createCloseState, withRequestDeadline } from './requestDeadline.ts';
import {
  type LegacyHandshake,
  endSession,
  performLegacyHandshake,
  sendBestEffort,
  toConnectError,
} from './legacyHandshake.ts';
import { createSessionGetStream, maintainLegacyStream } from './sessionStream.ts';
import { isObject } from '../messages.ts';
import { createSessionLogLevel } from '../serverLog.ts';
import { serializeRequest } from './serializeRequest.ts';

const NOTIFICATION_TIMEOUT_MS = 10_000;

/** A conversation of the legacy era: a session at the server, found again when the server has lost it. */
export function createLegacyUpstream(
  target: RemoteTarget,
  initialHandshake: LegacyHandshake,
  {
    server,
    owner,
    initTimeoutMs: timeoutMs,
    relay,
  }: Pick<OpenOptions, 'server' | 'owner' | 'initTimeoutMs' | 'relay'>,
  parts: UpstreamParts,
): Upstream {
  const { clock, network } = parts;
  const closeState = createCloseState();
  const closeController = new AbortController();
  const listeners = createNotificationListeners();
  const renewalListeners = new Set<() => void>();
  const listListeners = new Set<(lists: readonly ListKind[]) => void>();
  /** Of which lists changes are heard now. */
  let subscribedLists: readonly ListKind[] = [];
  const activeServerRequests = new Set<ServerRequests>();
  const sessionLogLevel = createSessionLogLevel(clock);
  const sessions = createLegacySessions(createLegacySession(initialHandshake, target.headers), {
    open: reopenSession,
    retire: retireSession,
    onRenewed: notifySessionRenewed,
  });
  /** The last one that was presented: what a stream and the end of the session present too. */
  let currentHeaders: HeaderValues | undefined;
  /** Likewise, and a source of tokens: no token is kept here. */
  let currentBearer: Bearer | undefined = target.bearer;
  let hasReplacedSession = false;
  let lastId = 0;
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

  const stream = createSessionGetStream({
    clock,
    current: () => sessions.current,
    open(session, onOpenAttempted) {
      let isStopped = false;
      const stop = maintainLegacyStream(target, parts, {
        session,
        getCredential: () => ({ headers: currentHeaders, bearer: currentBearer }),
        onNotification: rpcParts.onNotification,
        responder: rpcParts.responder,
        findServerRequests: findOnlyServerRequests,
        onOpenChange: (isOpen) => {
          if (!isStopped) setSubscribedLists(isOpen ? getAnnouncedLists(session.claims.capabilities) : []);
        },
        server,
        onOpenAttempted,
        onConflict() {
          // It ends the session: never under a call, nor for one, which does without.
          if (listeners.size === 0 || closeState.inFlight.size > 0) return false;
          void replaceSession(session);
          return true;
        },
      });
      return () => {
        // What it says of itself from here on is said of another one.
        isStopped = true;
        stop();
        setSubscribedLists([]);
      };
    },
  });
  // Whoever ended it: a server may hold a stream open for ever.
  closeState.onClose(() => stream.close());

  function setSubscribedLists(lists: readonly ListKind[]): void {
    subscribedLists = lists;
    for (const notify of [...listListeners]) notify(lists);
  }

  function notifySessionRenewed(): void {
    for (const listener of renewalListeners) listener();
  }

  async function reopenSession({
    headers: presented,
    bearer: presentedBearer = currentBearer,
  }: PresentedCredential): Promise<LegacySession> {
    // Somebody else found the session lost before, and that there is no other to be had.
    if (closeState.isClosed) throw new UpstreamError('ended');
    const limits = { signal: closeController.signal, timeoutMs, totalMs: timeoutMs };
    const headers = { ...target.headers, ...presented };
    try {
      const handshake = await withRequestDeadline(
        { clock, inFlight: new ActiveSet() },
        limits,
        noop,
        (deadline) =>
          performLegacyHandshake(target, { headers, bearer: presentedBearer }, parts, {
            deadline,
            timeoutMs,
            relay,
          }),
      );
      const session = createLegacySession(handshake, target.headers);
      stream.switchTo(session);
      return session;
    } catch (error) {
      // It answers, and not as it once did: the next conversation asks anew what it speaks.
      if (error instanceof UpstreamError && UNSUPPORTED_PROTOCOL_REASONS.has(error.reason))
        closeState.markClosed();
      throw toConnectError(error);
    }
  }

  const sendParts: SessionSendParts = {
    sessions,
    nextId: () => (lastId += 1),
    sendOn(session, { id, body, options, deadline, serverRequests }) {
      const { onProgress, onLog } = options;
      const headers = session.headersFor(options);
      const hasSession = session.id !== undefined;
      const rpc = {
        url: target.url,
        era: 'legacy' as const,
        id,
        headers,
        // Never without one where there is one: the request would go out with whatever else is configured.
        bearer: options.bearer ?? currentBearer,
        body,
        hasSession: hasSession,
        onProgress,
        onLog,
        serverRequests,
      };
      return sendRpc(rpcParts, rpc, deadline);
    },
  };

  const supportsLogging = ({ claims }: LegacySession) => isObject(claims.capabilities['logging']);

  /** The session first says as much as this caller wants to hear. */
  function withLogLevel<T>(
    logLevel: string,
    { options, deadline }: SessionRequest,
    work: () => Promise<T>,
  ): Promise<T> {
    const { onLog: _log, onProgress: _progress, dialogue: _dialogue, ...silentOptions } = options;
    return sessionLogLevel.withLevel(logLevel, sessions.current, work, async (level, session) => {
      const id = sendParts.nextId();
      const message = { id, method: 'logging/setLevel', params: { level } };
      const body = serializeRequest({
        ...message,
        meta: undefined,
        envelope: undefined,
        requestedLogLevel: false,
      });
      await sendParts.sendOn(session, { id, body, options: silentOptions, deadline });
    });
  }

  /** Questions end with the call, whichever way that ends: with its answer, or because nobody waits for it. */
  async function withServerRequests(
    dialogue: Dialogue | undefined,
    request: SessionRequest,
  ): Promise<UpstreamResponse> {
    if (dialogue?.era !== 'legacy') return sendWithSessionRenewal(sendParts, request);
    const { deadline } = request;
    const serverRequests = createServerRequests({
      dialogue,
      withPausedTimeout: (userResponse) => deadline.withPausedTimeout(userResponse),
    });
    deadline.signal.addEventListener('abort', serverRequests.close);
    activeServerRequests.add(serverRequests);
    const sendOnce = () => sendWithSessionRenewal(sendParts, { ...request, serverRequests });
    try {
      // It may ask on the stream of nobody's call, which most clients have open.
      return await (owner === undefined || isEmpty(dialogue.capabilities)
        ? sendOnce()
        : stream.withStream(sendOnce));
    } finally {
      activeServerRequests.delete(serverRequests);
      serverRequests.close();
    }
  }

  /**
   * Some servers ask on the stream of nobody's call. On one user's own session, with one request under way, there is no
   * other it could belong to.
   */
  function findOnlyServerRequests(): ServerRequests | undefined {
    const [only] = activeServerRequests;
    return owner !== undefined && closeState.inFlight.size === 1 ? only : undefined;
  }

  /** Best effort: nobody waits for it. */
  function retireSession(session: LegacySession): void {
    if (session.id !== undefined) void endSession(target, getSessionCredential(session), session.id, parts);
  }

  /** Once: a server that always finds a conflict would get session after session. */
  async function replaceSession(session: LegacySession): Promise<void> {
    if (hasReplacedSession) return;
    hasReplacedSession = true;
    if (session.id !== undefined) await endSession(target, getSessionCredential(session), session.id, parts);
    await sessions
      .renew(session, { headers: currentHeaders, bearer: currentBearer }, { retire: false })
      .catch(noop);
  }

  const getSessionCredential = ({ sessionHeaders }: LegacySession): PresentedCredential => ({
    headers: { ...target.headers, ...currentHeaders, ...sessionHeaders },
    bearer: currentBearer,
  });

  function updateCredential({ headers, bearer: presentedBearer }: PresentedCredential): void {
    if (headers !== undefined) currentHeaders = headers;
    // What was opened without one may be everybody's: there it serves the request that brought it, and no other.
    if (presentedBearer !== undefined && target.bearer) currentBearer = presentedBearer;
  }

  return {
    get claims() {
      return sessions.current.claims;
    },
    request(method, params, options) {
      if (closeState.isClosed) return Promise.reject(new UpstreamError('ended'));
      const id = sendParts.nextId();
      updateCredential(options);
      const body = serializeRequest({
        id,
        method,
        params,
        meta: options.meta,
        envelope: undefined,
        requestedLogLevel: false,
      });
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
          if (dialogue === undefined && logLevel === undefined)
            return sendWithSessionRenewal(sendParts, request);
          const sendInDialogue = () => withServerRequests(dialogue, request);
          return logLevel === undefined || !supportsLogging(sessions.current)
            ? sendInDialogue()
            : withLogLevel(logLevel, request, sendInDialogue);
        },
      );
    },
    listen(listener, { resources, onSessionRenewed: onRenewal, onSubscribedLists, ...presented }) {
      // The same function may listen twice.
      const filteredListener = filterNotifications(listener, resources);
      listeners.add(filteredListener);
      const renewalListener = () => onRenewal?.();
      renewalListeners.add(renewalListener);
      const listListener = (lists: readonly ListKind[]) => onSubscribedLists?.(lists);
      listListeners.add(listListener);
      listListener(subscribedLists);
      updateCredential(presented);
      const release = stream.acquire();
      return () => {
        listeners.delete(filteredListener);
        renewalListeners.delete(renewalListener);
        listListeners.delete(listListener);
        release();
      };
    },
    onClose: (listener) => closeState.onClose(listener),
    async close() {
      if (!closeState.markClosed()) return;
      closeController.abort();
      abortInFlight(closeState);
      const session = sessions.current;
      if (session.id !== undefined)
        await endSession(target, getSessionCredential(session), session.id, parts);
    },
  };
}

function noop(): void {
  // Nobody waits for this.
}

/** What a server that dropped the old revisions answers to `initialize`. */
const UNSUPPORTED_PROTOCOL_REASONS: ReadonlySet<UpstreamReason> = new Set([
  'rpc_error',
  'invalid_response',
  'bad_request',
  'wrong_url',
  'header_mismatch',
]);

/** Of nobody who could be asked anything. */
function isEmpty(capabilities: JsonObject): boolean {
  return Object.keys(capabilities).length === 0;
}

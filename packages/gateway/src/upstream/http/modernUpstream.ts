import { sendWithCredential } from '../bearer.ts';
import {
  filterNotifications,
  getAnnouncedLists,
  readAcknowledgedLists,
  toChangeNotification,
  toListenFilter,
} from '../notifications.ts';
import { createCloseState, withRequestDeadline } from '../requestDeadline.ts';
import type { Bearer, RemoteTarget } from '../target.ts';
import type { ServerClaims, Upstream, UpstreamParts } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { isSessionErrorCode, isTemporaryStatus } from './errors.ts';
import { type RpcParts, sendRpc } from './sendRpc.ts';
import {
  createModernEnvelope,
  createModernHeaderCache,
  serializeMembers,
  serializeRequest,
  withCapabilities,
} from './serializeRequest.ts';
import { maintainStream } from './stream.ts';

/** A target without credentials: all users share the upstream. */
type ModernTarget = Omit<RemoteTarget, 'headers' | 'bearer'> & {
  readonly headers: Readonly<Record<string, never>>;
  readonly bearer: undefined;
};

/**
 * A modern upstream over streamable HTTP. Neither side keeps state of a user: every request presents its own credential,
 * and an idle user costs nothing.
 */
export function createModernUpstream(
  target: ModernTarget,
  claims: ServerClaims,
  parts: UpstreamParts,
  /** The server no longer responds like a modern one. */
  onEraMismatch: () => void,
): Upstream {
  const { clock, network } = parts;
  const closeState = createCloseState();
  const openStreams = new Set<() => void>();
  const baseEnvelope = createModernEnvelope(parts.version);
  const baseEnvelopeText = serializeMembers(baseEnvelope);
  const buildHeaders = createModernHeaderCache(target.headers);
  /** Each request declares the extension that issued its token. */
  const buildEnvelope = (bearer: Bearer | undefined) =>
    bearer?.extension === undefined ? baseEnvelope : createModernEnvelope(parts.version, bearer.extension);
  const send = network.sendTo(target);
  let lastId = 0;
  const nextId = () => (lastId += 1);
  const rpcParts: RpcParts = {
    send,
    clock,
    readError: network.readError,
    responder: { respond: noop },
    // Notifications on a call belong to its caller, and all users share this upstream.
    onNotification: noop,
  };

  /** If the server responds like a legacy one, the upstream closes. The next connection negotiates again. */
  function handleEraMismatch(error: unknown): void {
    if (!(error instanceof UpstreamError) || !isLegacyResponse(error)) return;
    onEraMismatch();
    closeState.markClosed();
    stopStreams();
  }

  function stopStreams(): void {
    for (const stop of openStreams) stop();
    openStreams.clear();
  }

  return {
    claims,
    async request(method, params, options) {
      if (closeState.isClosed) throw new UpstreamError('ended');
      const id = nextId();
      const { bearer, meta, onLog, onProgress, dialogue, logLevel } = options;
      const requestEnvelope =
        dialogue?.era === 'modern'
          ? withCapabilities(baseEnvelope, dialogue.capabilities, bearer?.extension)
          : buildEnvelope(bearer);
      const rpc = {
        url: target.url,
        era: 'modern' as const,
        id,
        headers: buildHeaders(method, params, options),
        bearer,
        body: serializeRequest({
          id,
          method,
          params,
          meta,
          envelope: requestEnvelope,
          requestedLogLevel: onLog !== undefined && (logLevel ?? true),
          envelopeText: requestEnvelope === baseEnvelope ? baseEnvelopeText : undefined,
        }),
        hasSession: false,
        onProgress,
        onLog,
        serverRequests: undefined,
      };
      try {
        // No cancellation message: closing the exchange cancels a modern request.
        return await withRequestDeadline(
          { clock, inFlight: closeState.inFlight },
          options,
          noop,
          (deadline) => sendRpc(rpcParts, rpc, deadline),
        );
      } catch (error) {
        handleEraMismatch(error);
        throw error;
      }
    },
    /** Each listener has its own stream, because its credential decides what it receives. */
    listen(listener, { headers: credentialHeaders, bearer, resources = [], onSubscribedLists = noop }) {
      const lists = getAnnouncedLists(claims.capabilities);
      const notifications = {
        ...toListenFilter(lists),
        ...(resources.length > 0 && { resourceSubscriptions: resources }),
      };
      if (Object.keys(notifications).length === 0 || closeState.isClosed) return noop;
      const filteredListener = filterNotifications(listener, resources);
      const method = 'subscriptions/listen';
      const params = { notifications };
      const stop = maintainStream(parts, {
        idleTimeoutMs: target.sseReadTimeoutMs,
        async open(signal) {
          const caller = credentialHeaders ? { headers: credentialHeaders } : {};
          const headers = buildHeaders(method, params, caller);
          const body = serializeRequest({ id: nextId(), method, params, envelope: buildEnvelope(bearer) });
          const request = { method: 'POST', url: target.url, headers, body, signal } as const;
          const reply = await sendWithCredential(send, request, bearer);
          if (reply.status === 200 && reply.isEventStream) return reply;
          void reply.discard();
          if (isTemporaryStatus(reply.status)) throw new Error('Stream temporarily unavailable');
          return null;
        },
        onOpenChange(isOpen) {
          // An open stream starts with the acknowledgment that names the lists.
          if (!isOpen) onSubscribedLists([]);
        },
        onMessage(message) {
          const acknowledgedLists = readAcknowledgedLists(message, lists);
          if (acknowledgedLists) onSubscribedLists(acknowledgedLists);
          const notification = toChangeNotification(message);
          if (notification) filteredListener(notification);
          // An error ends the subscription permanently. After a result the stream is reopened.
          return message.error === undefined;
        },
      });
      openStreams.add(stop);
      return () => {
        openStreams.delete(stop);
        stop();
      };
    },
    onClose: (listener) => closeState.onClose(listener),
    async close() {
      if (!closeState.markClosed()) return;
      stopStreams();
      closeState.abortInFlight();
    },
  };
}

/** Whether the error is typical of a legacy server that does not understand a modern request. */
function isLegacyResponse({ reason, detail: { status, rpc } }: UpstreamError): boolean {
  if (reason === 'header_mismatch') return rpc?.code === -32022;
  const isNotUnderstood = reason === 'wrong_url' || reason === 'bad_request' || isSessionErrorCode(rpc);
  return isNotUnderstood && (status === 400 || status === 404 || status === 405);
}

function noop(): void {
  // Intentionally empty.
}

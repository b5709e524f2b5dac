import type { HeaderValues, JsonObject, ServerClaims, Upstream, UpstreamParts } from '../upstream.ts';
import type { Bearer, RemoteTarget } from '../target.ts';
import {
  filterNotifications,
  getAnnouncedLists,
  readAcknowledgedLists,
  toChangeNotification,
  toListenFilter,
} from '../notifications.ts';
import { sendWithCredential } from '../bearer.ts';
import { UpstreamError } from '../upstreamError.ts';
import { isSessionErrorCode } from './errors.ts';
import { sendRpc, type RpcParts } from './sendRpc.ts';
import { abortInFlight, createCloseState, withRequestDeadline } from './requestDeadline.ts';
import {
  createModernEnvelope,
  createModernHeaderCache,
  serializeMembers,
  serializeRequest,
  withCapabilities,
} from './serializeRequest.ts';
import { maintainStream } from './stream.ts';

/** Where a server is, and nothing of whoever found out: neither headers nor a bearer. */
type ModernTarget = Omit<RemoteTarget, 'headers' | 'bearer'> & {
  readonly headers: Readonly<Record<string, never>>;
  readonly bearer: undefined;
};

/**
 * A modern server keeps nothing of us and we keep nothing of any user: each request brings its credential, and a
 * million idle users cost nothing.
 */
export function createModernUpstream(
  target: ModernTarget,
  claims: ServerClaims,
  parts: UpstreamParts,
  /** The server does not answer as a modern one any more. */
  onEraMismatch: () => void,
): Upstream {
  const { clock, network } = parts;
  const closeState = createCloseState();
  const openStreams = new Set<() => void>();
  const baseEnvelope = createModernEnvelope(parts.version);
  const baseEnvelopeText = serializeMembers(baseEnvelope);
  const buildHeaders = createModernHeaderCache(target.headers);
  /** Each request speaks for itself: who brings a token by an extension says so. */
  const buildEnvelope = (bearer: Bearer | undefined) =>
    bearer?.extension === undefined ? baseEnvelope : createModernEnvelope(parts.version, bearer.extension);
  const send = network.sendTo(target);
  let lastId = 0;
  const rpcParts: RpcParts = {
    send,
    clock,
    readError: network.readError,
    responder: { respond: () => undefined },
    // It belongs to whose call it came with, and all users may have this conversation.
    onNotification: noop,
  };

  function nextRequest(
    method: string,
    params: JsonObject,
    caller: { headers?: HeaderValues; extraHeaders?: HeaderValues },
  ) {
    lastId += 1;
    return { id: lastId, headers: buildHeaders(method, params, caller) };
  }

  /** Once it answers like a legacy server, this conversation leads nowhere: the next one asks anew what it speaks. */
  function handleEraMismatch(error: unknown): void {
    if (!(error instanceof UpstreamError)) return;
    if (!isLegacyResponse(error)) return;
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
      const { id, headers } = nextRequest(method, params, options);
      const { bearer, meta, onLog, onProgress, dialogue, logLevel } = options;
      const requestedLogLevel = onLog !== undefined && (logLevel ?? true);
      const requestEnvelope =
        dialogue?.era === 'modern'
          ? withCapabilities(baseEnvelope, dialogue.capabilities, bearer?.extension)
          : buildEnvelope(bearer);
      const rpc = {
        url: target.url,
        era: 'modern' as const,
        id,
        headers,
        bearer,
        body: serializeRequest({
          id,
          method,
          params,
          meta,
          envelope: requestEnvelope,
          requestedLogLevel,
          envelopeText: requestEnvelope === baseEnvelope ? baseEnvelopeText : undefined,
        }),
        hasSession: false,
        onProgress,
        onLog,
        serverRequests: undefined,
      };
      try {
        // Closing the exchange is the cancellation of this era.
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
    /** Each listener has a stream of its own: what it may hear depends on its credential. */
    listen(listener, { headers: credentialHeaders, bearer, resources = [], onSubscribedLists = noop }) {
      const lists = getAnnouncedLists(claims.capabilities);
      const notifications = {
        ...toListenFilter(lists),
        ...(resources.length > 0 && { resourceSubscriptions: resources }),
      };
      const filteredListener = filterNotifications(listener, resources);
      let stop = noop;
      if (Object.keys(notifications).length > 0 && !closeState.isClosed) {
        stop = maintainStream(parts, {
          idleTimeoutMs: target.sseReadTimeoutMs,
          async open(signal) {
            const method = 'subscriptions/listen';
            const params = { notifications };
            const { id, headers } = nextRequest(
              method,
              params,
              credentialHeaders ? { headers: credentialHeaders } : {},
            );
            const envelope = buildEnvelope(bearer);
            const body = serializeRequest({
              id,
              method,
              params,
              meta: undefined,
              envelope,
              requestedLogLevel: false,
            });
            const request = { method: 'POST', url: target.url, headers, body, signal } as const;
            const reply = await sendWithCredential(send, request, bearer);
            if (reply.status === 200 && reply.isEventStream) return reply;
            void reply.discard();
            if (reply.status === 429 || reply.status >= 500)
              throw new Error('Stream temporarily unavailable');
            return null;
          },
          onOpenChange: (isOpen) => {
            // An open one is followed by what it says first.
            if (!isOpen) onSubscribedLists([]);
          },
          onMessage(message) {
            const acknowledgedLists = readAcknowledgedLists(message, lists);
            if (acknowledgedLists) onSubscribedLists(acknowledgedLists);
            const notification = toChangeNotification(message);
            if (notification) filteredListener(notification);
            // An error ends the subscription for good; a result only says goodbye for now.
            return message.error === undefined;
          },
        });
        openStreams.add(stop);
      }
      return () => {
        openStreams.delete(stop);
        stop();
      };
    },
    onClose: (listener) => closeState.onClose(listener),
    async close() {
      if (!closeState.markClosed()) return;
      stopStreams();
      abortInFlight(closeState);
    },
  };
}

/** How a legacy server answers a request that it does not understand. */
function isLegacyResponse({ reason, detail: { status, rpc } }: UpstreamError): boolean {
  if (reason === 'header_mismatch') return rpc?.code === -32022;
  const isNotUnderstood = reason === 'wrong_url' || reason === 'bad_request' || isSessionErrorCode(rpc);
  return isNotUnderstood && (status === 400 || status === 404 || status === 405);
}

function noop(): void {
  // No one needs to be told.
}

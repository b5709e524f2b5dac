import { abortReason, rejectOnAbort } from '@behalf/kernel';
import {
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  LOG_LEVEL_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from '@modelcontextprotocol/client';
import { TokenUnavailableError, rethrowOriginal } from '../bearer.ts';
import { buildSessionCapabilities } from '../dialogue.ts';
import { createModernEnvelope, withCapabilities, withExtension } from '../http/serializeRequest.ts';
import { readClaims, readDiscovery } from '../messages.ts';
import {
  createNotificationListeners,
  getAnnouncedLists,
  readAcknowledgedLists,
  toChangeNotification,
} from '../notifications.ts';
import { createServerLog } from '../serverLog.ts';
import type { Bearer, OpenOptions } from '../target.ts';
import type {
  Era,
  JsonObject,
  ServerClaims,
  Upstream,
  UpstreamParts,
  UpstreamRequestOptions,
} from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { type Peer, createPeer } from './peer.ts';

export interface Channel extends Transport {
  /** Reports the failure of one request while the channel stays open. */
  onrequesterror?: ((id: unknown, error: UpstreamError) => void) | undefined;
  /** Present if every message is a separate HTTP request. Other channels cannot send a user's token. */
  sendWithBearer?(message: JSONRPCMessage, context: SendContext): Promise<void>;
}

export interface SendContext {
  readonly bearer: Bearer;
  /** Called when the token is available, before anything is sent. False: the caller has aborted. */
  readonly shouldSend?: () => boolean;
}

export interface ChannelOptions extends Pick<
  OpenOptions,
  'server' | 'owner' | 'initTimeoutMs' | 'signal' | 'relay'
> {
  /** `modern` falls back to `legacy` unless `isEraFixed`. */
  readonly era: Era;
  readonly isEraFixed?: boolean;
  /** Token source of the user that owns the channel. */
  readonly bearer?: Bearer | undefined;
  /** Ends a channel that could not be opened. Default: `close`. */
  readonly terminate?: () => Promise<void>;
}

/** Opens an upstream over a channel: a child process, HTTP+SSE, or a WebSocket. */
export async function openChannelUpstream(
  channel: Channel,
  options: ChannelOptions,
  { clock, log, version }: Pick<UpstreamParts, 'clock' | 'log' | 'version'>,
): Promise<Upstream> {
  const { server, owner, signal, bearer } = options;
  let claims: ServerClaims | undefined;
  const serverLog = createServerLog({ clock, log, server, owner });
  const peer = createPeer(channel, {
    clock,
    getEra: () => claims?.era ?? 'legacy',
    onNotification: handleNotification,
    bearer,
    isSingleUser: owner !== undefined,
  });
  const listeners = createNotificationListeners((resources) => {
    if (updateSubscription && !resources) listeners.setSubscribedLists([]);
    updateSubscription?.(resources);
  });
  let updateSubscription: ReturnType<typeof createListenSubscription> | undefined;

  function handleNotification(method: string, params: JsonObject): void {
    if (method === 'notifications/message') return serverLog.receive(params, peer.activeRequests);
    const acknowledgedLists =
      claims && readAcknowledgedLists({ method, params }, getAnnouncedLists(claims.capabilities));
    if (acknowledgedLists) listeners.setSubscribedLists(acknowledgedLists);
    const notification = toChangeNotification({ method, params });
    if (notification) listeners.emit(notification);
  }

  try {
    signal.throwIfAborted();
    // `start` of the SDK takes no signal.
    await rejectOnAbort(channel.start(), signal);
    if (options.era === 'modern') {
      claims = await discover(peer, version, { signal, timeoutMs: options.initTimeoutMs });
      if (!claims && options.isEraFixed) throw new UpstreamError('bad_request');
    }
    claims ??= await initialize(peer, channel, options, version);
  } catch (error) {
    await (options.terminate ?? (() => channel.close()))();
    if (signal.aborted) throw abortReason(signal);
    if (error instanceof TokenUnavailableError) rethrowOriginal(error);
    throw toConnectFailure(error);
  }
  peer.onClose(() => {
    listeners.setSubscribedLists([]);
    listeners.clear();
    serverLog.close();
  });

  const envelope = claims.era === 'modern' ? createModernEnvelope(version) : undefined;
  if (envelope)
    updateSubscription = createListenSubscription(peer, envelope, () => listeners.setSubscribedLists([]));
  // A legacy server sends all announced changes while it is connected.
  else listeners.setSubscribedLists(getAnnouncedLists(claims.capabilities));

  return {
    claims,
    request: (method, params, caller) =>
      peer
        .request(method, params, {
          ...caller,
          meta: { ...caller.meta, ...(envelope && buildEnvelope(envelope, caller)) },
        })
        .catch(rethrowOriginal),
    listen: (listener, listenOptions) => listeners.add(listener, listenOptions),
    onClose: (listener) => peer.onClose(listener),
    close: () => channel.close(),
  };
}

/** Adds the caller's capabilities and log level to the `_meta` of a modern request. */
function buildEnvelope(
  envelope: JsonObject,
  { dialogue, onLog, logLevel }: UpstreamRequestOptions,
): JsonObject {
  const declared = dialogue?.era === 'modern' ? withCapabilities(envelope, dialogue.capabilities) : envelope;
  return onLog && logLevel !== undefined ? { ...declared, [LOG_LEVEL_META_KEY]: logLevel } : declared;
}

/** No request of a caller was sent yet, so the server counts as not reached. */
function toConnectFailure(error: unknown): UpstreamError {
  if (!(error instanceof UpstreamError)) return new UpstreamError('connect_failed', { cause: error });
  if (error.reason === 'timeout') return new UpstreamError('connect_timeout', { cause: error });
  if (error.reason === 'reset' || error.reason === 'ended')
    return new UpstreamError('connect_failed', { cause: error });
  return error;
}

/** Sends `initialize` and `notifications/initialized`, the handshake of all revisions up to 2025-11-25. */
async function initialize(
  peer: Peer,
  channel: Channel,
  { owner, relay, bearer, signal, initTimeoutMs }: ChannelOptions,
  version: string,
): Promise<ServerClaims> {
  // A shared channel declares no capabilities: a request of the server could not be attributed to a user.
  const capabilities = owner === undefined ? {} : buildSessionCapabilities(relay);
  const { result } = await peer.request(
    'initialize',
    {
      protocolVersion: LATEST_PROTOCOL_VERSION,
      capabilities: withExtension(capabilities, bearer?.extension),
      clientInfo: { name: 'behalf', version },
    },
    { signal, timeoutMs: initTimeoutMs, totalMs: initTimeoutMs },
  );
  const { protocolVersion } = result;
  if (typeof protocolVersion !== 'string' || !SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion))
    throw new UpstreamError('invalid_response');
  channel.setProtocolVersion?.(protocolVersion);
  // Awaited: if each message is a separate POST, the next message could overtake it.
  const notifyError = await peer.notify('notifications/initialized');
  // The server would wait for this notification without reporting an error.
  if (notifyError) throw notifyError;
  return readClaims('legacy', protocolVersion, result);
}

/**
 * Sends `server/discover`, which every modern server implements. Undefined if the response indicates a legacy server.
 */
export async function discover(
  peer: Peer,
  version: string,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<ServerClaims | undefined> {
  const meta = createModernEnvelope(version);
  try {
    const { result } = await peer.request(
      'server/discover',
      {},
      { signal, timeoutMs, totalMs: timeoutMs, meta },
    );
    return readDiscovery(result);
  } catch (error) {
    if (error instanceof UpstreamError && error.detail.rpc) return undefined;
    throw error;
  }
}

const allListChanges = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

/**
 * Keeps `subscriptions/listen` open while there are listeners: modern servers send changes only to subscribers. The
 * request names the resources, so it is repeated when they change. A server that rejects it offers no notifications.
 */
function createListenSubscription(
  peer: Peer,
  meta: JsonObject,
  onClosed: () => void,
): (resources: readonly string[] | undefined) => void {
  let current: { readonly filter: string; readonly stop: AbortController } | undefined;
  return (resources) => {
    const filter = JSON.stringify(resources);
    if (resources && current?.filter === filter) return;
    const previous = current;
    current = undefined;
    if (resources) {
      const stop = new AbortController();
      current = { filter, stop };
      const notifications = {
        ...allListChanges,
        ...(resources.length > 0 && { resourceSubscriptions: resources }),
      };
      const noTimeout = { timeoutMs: Infinity, totalMs: Infinity, isSubscription: true };
      peer
        .request('subscriptions/listen', { notifications }, { ...noTimeout, signal: stop.signal, meta })
        .catch(() => undefined)
        .finally(() => {
          if (current?.stop === stop) onClosed();
        });
    }
    // After the new subscription, so that no notification is missed.
    previous?.stop.abort(new DOMException('No listeners remain', 'AbortError'));
  };
}

import { abortReason, rejectOnAbort } from '@behalf/kernel';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from '@modelcontextprotocol/client';
import { TokenUnavailableError, rethrowOriginal } from '../bearer.ts';
import { buildSessionCapabilities, createDefaultResponse } from '../dialogue.ts';
import { withCapabilities, withExtension } from '../http/serializeRequest.ts';
import { objectOrEmpty, readClaims } from '../messages.ts';
import {
  createChannelListeners,
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

/** A transport that can also tell the end of one request, while the others on it go on. */
export interface Channel extends Transport {
  onrequesterror?: ((id: unknown, error: UpstreamError) => void) | undefined;
  /** Where each message is an HTTP request of its own, it can carry a user's token. No other channel takes one. */
  sendWithBearer?(message: JSONRPCMessage, context: SendContext): Promise<void>;
}

/** On whose behalf a message goes out. */
export interface SendContext {
  readonly bearer: Bearer;
  /** Runs when the token is at hand and before anything is sent. False: nobody waits any more. */
  readonly shouldSend?: () => boolean;
}

export interface ChannelOptions extends Pick<
  OpenOptions,
  'server' | 'owner' | 'initTimeoutMs' | 'signal' | 'relay'
> {
  /** `modern` is tried first and is no more than a guess unless `pinned`. */
  readonly era: Era;
  readonly isEraFixed?: boolean;
  /** Of the user whose channel it is. */
  readonly bearer?: Bearer | undefined;
  /** Ends a channel that could not be opened. Its `close` unless told otherwise. */
  readonly terminate?: () => Promise<void>;
}

/** A conversation over one channel: a child process, an event stream with its POSTs, a websocket. */
export async function openChannelUpstream(
  channel: Channel,
  options: ChannelOptions,
  { clock, log, version }: Pick<UpstreamParts, 'clock' | 'log' | 'version'>,
): Promise<Upstream> {
  const { server, owner, signal, bearer } = options;
  let claims: ServerClaims | undefined;
  const isSingleUser = owner !== undefined;
  const serverLog = createServerLog({ clock, log, server, owner });
  const getEra = () => claims?.era ?? 'legacy';
  const peer = createPeer(channel, {
    clock,
    getEra,
    createResponse: createDefaultResponse,
    onNotification: handleNotification,
    bearer,
    isSingleUser,
  });
  const listeners = createChannelListeners((resources) => {
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
    // Starting a transport of the SDK knows no signal.
    await rejectOnAbort(channel.start(), signal);
    claims = await performHandshake(peer, options, {
      version,
      timeoutMs: options.initTimeoutMs,
      capabilities: isSingleUser ? buildSessionCapabilities(options.relay) : {},
      signal,
      extension: bearer?.extension,
      onVersionNegotiated: (negotiated) => channel.setProtocolVersion?.(negotiated),
    });
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

  const isModern = claims.era === 'modern';
  const envelope = isModern ? modernMeta(version) : {};
  if (isModern)
    updateSubscription = createListenSubscription(peer, envelope, () => listeners.setSubscribedLists([]));
  // A legacy server tells all it announces for as long as it is connected.
  else listeners.setSubscribedLists(getAnnouncedLists(claims.capabilities));

  return {
    claims,
    request: (method, params, caller) =>
      peer
        .request(method, params, {
          ...caller,
          meta: { ...caller.meta, ...(isModern && buildEnvelope(envelope, caller)) },
        })
        .catch(rethrowOriginal),
    listen: (listener, options) => listeners.add(listener, options),
    onClose: (listener) => peer.onClose(listener),
    close: () => channel.close(),
  };
}

/** What a modern request says of us, and of what this very caller can be asked and wants to hear. */
function buildEnvelope(
  envelope: JsonObject,
  { dialogue, onLog, logLevel }: UpstreamRequestOptions,
): JsonObject {
  const declared = dialogue?.era === 'modern' ? withCapabilities(envelope, dialogue.capabilities) : envelope;
  return onLog && logLevel !== undefined ? { ...declared, [LOG_LEVEL_META_KEY]: logLevel } : declared;
}

async function performHandshake(
  peer: Peer,
  { era, isEraFixed }: ChannelOptions,
  handshake: ChannelHandshakeOptions,
): Promise<ServerClaims> {
  if (era === 'modern') {
    const claims = await discover(peer, handshake);
    if (claims) return claims;
    if (isEraFixed) throw new UpstreamError('bad_request');
  }
  return initialize(peer, handshake);
}

/** Nothing of a caller was sent yet, so whatever happened, the server was not reached. */
function toConnectFailure(error: unknown): UpstreamError {
  if (!(error instanceof UpstreamError)) return new UpstreamError('connect_failed', { cause: error });
  if (error.reason === 'timeout') return new UpstreamError('connect_timeout', { cause: error });
  if (error.reason === 'reset' || error.reason === 'ended')
    return new UpstreamError('connect_failed', { cause: error });
  return error;
}

const MODERN_VERSION = '2026-07-28';

interface ChannelHandshakeOptions {
  /** Our own version, as told to the server. */
  readonly version: string;
  readonly timeoutMs: number;
  /** What the server may ask of us. None by default: on a channel that many share, nobody could be asked on behalf of one of them. */
  readonly capabilities?: JsonObject;
  readonly signal: AbortSignal;
  /** By which the token of its owner is had. */
  readonly extension?: string | undefined;
  /** Hears the revision that both speak before anything else is sent. */
  readonly onVersionNegotiated?: (protocolVersion: string) => void;
}

/** Who we are. */
const clientInfo = (version: string) => ({ name: 'behalf', version });

/** What every request of the modern era says of its sender. */
function modernMeta(version: string): JsonObject {
  return {
    [PROTOCOL_VERSION_META_KEY]: MODERN_VERSION,
    [CLIENT_INFO_META_KEY]: clientInfo(version),
    [CLIENT_CAPABILITIES_META_KEY]: {},
  };
}

/** `initialize` and `notifications/initialized`, as every revision up to 2025-11-25 begins. */
async function initialize(peer: Peer, options: ChannelHandshakeOptions): Promise<ServerClaims> {
  const { signal, timeoutMs } = options;
  const { result } = await peer.request(
    'initialize',
    {
      protocolVersion: LATEST_PROTOCOL_VERSION,
      capabilities: withExtension(options.capabilities ?? {}, options.extension),
      clientInfo: clientInfo(options.version),
    },
    { signal, timeoutMs, totalMs: timeoutMs },
  );
  const { protocolVersion } = result;
  if (typeof protocolVersion !== 'string' || !SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion))
    throw new UpstreamError('invalid_response');
  options.onVersionNegotiated?.(protocolVersion);
  // Where each message is a POST of its own, the next one could overtake it.
  const notifyError = await peer.notify('notifications/initialized');
  // Without it the server waits for ever, and says so to nobody.
  if (notifyError) throw notifyError;
  const { serverInfo, capabilities, instructions } = result;
  return readClaims('legacy', protocolVersion, { serverInfo, capabilities, instructions });
}

/**
 * `server/discover`. Undefined when the answer is no evidence of the modern era, which is what a legacy server gives:
 * every modern one must implement it.
 */
export async function discover(
  peer: Peer,
  options: ChannelHandshakeOptions,
): Promise<ServerClaims | undefined> {
  const { signal, timeoutMs } = options;
  let result: JsonObject;
  try {
    const meta = modernMeta(options.version);
    ({ result } = await peer.request('server/discover', {}, { signal, timeoutMs, totalMs: timeoutMs, meta }));
  } catch (error) {
    if (error instanceof UpstreamError && error.detail.rpc) return undefined;
    throw error;
  }
  const versions = result['supportedVersions'];
  if (!Array.isArray(versions) || !versions.includes(MODERN_VERSION)) return undefined;
  const { capabilities, instructions } = result;
  const serverInfo = objectOrEmpty(result['_meta'])[SERVER_INFO_META_KEY];
  return readClaims('modern', MODERN_VERSION, { serverInfo, capabilities, instructions });
}

const allListChanges = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

/**
 * Keeps `subscriptions/listen` open while somebody listens: modern servers send changes only to who asks for them. Which
 * resources are meant is said when it is opened, so that for others it is opened anew. A server that refuses it offers none.
 */
function createListenSubscription(
  peer: Peer,
  meta: JsonObject,
  /** It is not open any more. */
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
    // Afterwards, so that nothing is missed in between.
    previous?.stop.abort(new DOMException('No listeners remain', 'AbortError'));
  };
}

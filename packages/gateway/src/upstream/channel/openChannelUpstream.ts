import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client';
import { abortReason, rejectOnAbort } from '@behalf/kernel';
import { createDefaultResponse, buildSessionCapabilities } from '../dialogue.ts';
import { readAcknowledgedLists, getAnnouncedLists } from '../listSubscriptions.ts';
import { toChangeNotification } from '../http/serverMessages.ts';
import { withCapabilities } from '../http/serializeRequest.ts';
import type { UpstreamParts } from '../parts.ts';
import type { Bearer, OpenOptions } from '../target.ts';
import type { Era, JsonObject, UpstreamRequestOptions, ServerClaims, Upstream } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import type { Channel } from './channel.ts';
import { discover, initialize, modernMeta, type ChannelHandshakeOptions } from './handshake.ts';
import { createChannelListeners } from './channelListeners.ts';
import { TokenUnavailableError, rethrowOriginal } from './tokenUnavailable.ts';
import { createPeer, type Peer } from './peer.ts';
import { createServerLog } from './serverLog.ts';
import { createListenSubscription } from './listenSubscription.ts';

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

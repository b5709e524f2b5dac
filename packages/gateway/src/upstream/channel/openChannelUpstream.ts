import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/client';
import { abortReason, unlessAborted } from '@behalf/kernel';
import { replyOfNobody, sessionCapabilities } from '../dialogue.ts';
import { acknowledged, announced } from '../announced.ts';
import { asNotice } from '../http/serverMessages.ts';
import { declaring } from '../http/writeRequest.ts';
import type { UpstreamParts } from '../parts.ts';
import type { Bearer, OpenOptions } from '../target.ts';
import type { Era, Json, RequestOptions, ServerClaims, Upstream } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import type { Channel } from './channel.ts';
import { discover, initialize, modernMeta, type HandshakeOptions } from './handshake.ts';
import { createListeners } from './listeners.ts';
import { NoToken, rethrow } from './noToken.ts';
import { createPeer, type Peer } from './peer.ts';
import { createServerLog } from './serverLog.ts';
import { createSubscription } from './subscription.ts';

export interface ChannelOptions extends Pick<
  OpenOptions,
  'server' | 'owner' | 'initTimeoutMs' | 'signal' | 'relay'
> {
  /** `modern` is tried first and is no more than a guess unless `pinned`. */
  readonly era: Era;
  readonly pinned?: boolean;
  /** Of the user whose channel it is. */
  readonly bearer?: Bearer | undefined;
  /** Ends a channel that could not be opened. Its `close` unless told otherwise. */
  readonly abandon?: () => Promise<void>;
}

/** A conversation over one channel: a child process, an event stream with its POSTs, a websocket. */
export async function openChannelUpstream(
  channel: Channel,
  options: ChannelOptions,
  { clock, log, version }: Pick<UpstreamParts, 'clock' | 'log' | 'version'>,
): Promise<Upstream> {
  const { server, owner, signal, bearer } = options;
  let claims: ServerClaims | undefined;
  const isOwned = owner !== undefined;
  const serverLog = createServerLog({ clock, log, server, owner });
  const era = () => claims?.era ?? 'legacy';
  const peer = createPeer(channel, { clock, era, serve: replyOfNobody, notice: hear, bearer, isOwned });
  const listeners = createListeners((resources) => {
    if (subscribe && !resources) listeners.follow([]);
    subscribe?.(resources);
  });
  let subscribe: ReturnType<typeof createSubscription> | undefined;

  function hear(method: string, params: Json): void {
    if (method === 'notifications/message') return serverLog.receive(params, peer.underway);
    const followed = claims && acknowledged({ method, params }, announced(claims.capabilities));
    if (followed) listeners.follow(followed);
    const notice = asNotice({ method, params });
    if (notice) listeners.tell(notice);
  }

  try {
    signal.throwIfAborted();
    // Starting a transport of the SDK knows no signal.
    await unlessAborted(channel.start(), signal);
    claims = await greet(peer, options, {
      version,
      timeoutMs: options.initTimeoutMs,
      capabilities: isOwned ? sessionCapabilities(options.relay) : {},
      signal,
      extension: bearer?.extension,
      onAgreed: (agreed) => channel.setProtocolVersion?.(agreed),
    });
  } catch (error) {
    await (options.abandon ?? (() => channel.close()))();
    if (signal.aborted) throw abortReason(signal);
    if (error instanceof NoToken) rethrow(error);
    throw openingFailure(error);
  }
  peer.onClose(() => {
    listeners.follow([]);
    listeners.clear();
    serverLog.end();
  });

  const modern = claims.era === 'modern';
  const envelope = modern ? modernMeta(version) : {};
  if (modern) subscribe = createSubscription(peer, envelope, () => listeners.follow([]));
  // A legacy server tells all it announces for as long as it is connected.
  else listeners.follow(announced(claims.capabilities));

  return {
    claims,
    request: (method, params, caller) =>
      peer
        .request(method, params, {
          ...caller,
          meta: { ...caller.meta, ...(modern && said(envelope, caller)) },
        })
        .catch(rethrow),
    listen: (listener, options) => listeners.add(listener, options),
    onClose: (listener) => peer.onClose(listener),
    close: () => channel.close(),
  };
}

/** What a modern request says of us, and of what this very caller can be asked and wants to hear. */
function said(envelope: Json, { dialogue, onLog, logLevel }: RequestOptions): Json {
  const whole = dialogue?.era === 'modern' ? declaring(envelope, dialogue.capabilities) : envelope;
  return onLog && logLevel !== undefined ? { ...whole, [LOG_LEVEL_META_KEY]: logLevel } : whole;
}

async function greet(
  peer: Peer,
  { era, pinned }: ChannelOptions,
  handshake: HandshakeOptions,
): Promise<ServerClaims> {
  if (era === 'modern') {
    const claims = await discover(peer, handshake);
    if (claims) return claims;
    if (pinned) throw new UpstreamError('bad_request');
  }
  return initialize(peer, handshake);
}

/** Nothing of a caller was sent yet, so whatever happened, the server was not reached. */
function openingFailure(error: unknown): UpstreamError {
  if (!(error instanceof UpstreamError)) return new UpstreamError('connect_failed', { cause: error });
  if (error.reason === 'timeout') return new UpstreamError('connect_timeout', { cause: error });
  if (error.reason === 'reset' || error.reason === 'ended')
    return new UpstreamError('connect_failed', { cause: error });
  return error;
}

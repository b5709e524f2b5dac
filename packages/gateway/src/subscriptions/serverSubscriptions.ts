import type { Clock, Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerNotification } from '../upstream/upstream.ts';
import {
  createUpstreamSubscription,
  type UpstreamSubscription,
  type OpenStream,
} from './upstreamSubscription.ts';

/**
 * What one user may watch, on all streams that they may have open, and over how many connections of their own: those are
 * held open meanwhile, however many watch.
 */
const MAX_SUBSCRIPTIONS_PER_USER = 1_024;
const MAX_STREAMS_PER_USER = 16;
/** Of all users: half of what may be open for them in all, so that calls find room. */
const MAX_USER_STREAMS = 1_000;

/** One who wants to know when something changes at a server. */
export interface Subscriber {
  /** Whose watch it is, as one text. */
  readonly principal: string;
  /** Makes the feed stand on this watcher's word; undefined: there is nothing to be heard there, now or later. */
  readonly openStream: (signal: AbortSignal) => Promise<OpenStream | undefined>;
  /** Asked with every notice: what its user may not see any more is not told. */
  readonly isAllowed: () => boolean;
  readonly onNotification: (notification: ServerNotification) => void;
}

export interface ServerSubscription {
  /** Hears from now on when this resource is updated. Rejects as the server does. */
  subscribeResource(uri: string): Promise<void>;
  unsubscribeResource(uri: string): void;
  /** Idempotent. */
  close(): void;
}

/** Which feed it is: two watchers with one key hear the same stream. */
interface SubscriptionKey {
  readonly key: string;
  /** Whose own it is; undefined for the one that everybody shares. */
  readonly owner: string | undefined;
  readonly serverId: string;
}

/** Everything that is watched: one feed for each server and user, or for each shared server, while anybody watches. */
export interface ServerSubscriptions {
  subscribe(key: SubscriptionKey, subscriber: Subscriber): ServerSubscription;
  /** What is presented in this user's name is outdated. */
  renew(principal: string, serverId: string | undefined): void;
  /** How many feeds there are. */
  readonly size: number;
  close(): void;
}

export function createServerSubscriptions(parts: {
  readonly clock: Clock;
  readonly random: Random;
}): ServerSubscriptions {
  const upstreams = new Map<
    string,
    { readonly subscriptionKey: SubscriptionKey; readonly upstream: UpstreamSubscription }
  >();
  const countByUser = new Map<string, number>();

  function adjustCount(principal: string, delta: 1 | -1): void {
    const updated = (countByUser.get(principal) ?? 0) + delta;
    if (updated > 0) countByUser.set(principal, updated);
    else countByUser.delete(principal);
  }

  function getOrCreate(subscriptionKey: SubscriptionKey): UpstreamSubscription {
    const existing = upstreams.get(subscriptionKey.key);
    if (existing) return existing.upstream;
    const all = [...upstreams.values()].filter(({ subscriptionKey: { owner } }) => owner !== undefined);
    const own = all.filter(({ subscriptionKey: { owner } }) => owner === subscriptionKey.owner);
    const isFull =
      subscriptionKey.owner !== undefined &&
      (own.length >= MAX_STREAMS_PER_USER || all.length >= MAX_USER_STREAMS);
    if (isFull) throw new GatewayError('MCP_RATE_LIMITED', { detail: TOO_MANY_SUBSCRIPTIONS });
    const isShared = subscriptionKey.owner === undefined;
    const upstream = createUpstreamSubscription({
      ...parts,
      isShared,
      onEmpty: () => void upstreams.delete(subscriptionKey.key),
    });
    upstreams.set(subscriptionKey.key, { subscriptionKey, upstream });
    return upstream;
  }

  return {
    subscribe(subscriptionKey, subscriber) {
      const { principal } = subscriber;
      if ((countByUser.get(principal) ?? 0) >= MAX_SUBSCRIPTIONS_PER_USER) {
        throw new GatewayError('MCP_RATE_LIMITED', { detail: TOO_MANY_SUBSCRIPTIONS });
      }
      const subscription = getOrCreate(subscriptionKey).add(subscriber);
      adjustCount(principal, 1);
      let isClosed = false;
      return {
        subscribeResource: (uri) => subscription.subscribeResource(uri),
        unsubscribeResource: (uri) => subscription.unsubscribeResource(uri),
        close() {
          if (isClosed) return;
          isClosed = true;
          adjustCount(principal, -1);
          subscription.close();
        },
      };
    },
    renew(principal, serverId) {
      for (const { subscriptionKey, upstream } of upstreams.values()) {
        if (
          subscriptionKey.owner === principal &&
          (serverId === undefined || subscriptionKey.serverId === serverId)
        )
          upstream.renew();
      }
    },
    get size() {
      return upstreams.size;
    },
    close() {
      for (const { upstream } of [...upstreams.values()]) upstream.close();
      upstreams.clear();
    },
  };
}

const TOO_MANY_SUBSCRIPTIONS = 'Too many subscriptions are open. Close one first.';

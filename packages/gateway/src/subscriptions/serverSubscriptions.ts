import type { Clock, Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerNotification } from '../upstream/upstream.ts';
import {
  createUpstreamSubscription,
  type OpenStream,
  type UpstreamSubscription,
} from './upstreamSubscription.ts';

/** Subscriptions of one user, over all client streams. */
const MAX_SUBSCRIPTIONS_PER_USER = 1_024;
/** Upstream streams of one user. Each keeps one of the user's connections open. */
const MAX_STREAMS_PER_USER = 16;
/** Upstream streams of all users: half of the connections that users may have, so that calls find capacity. */
const MAX_USER_STREAMS = 1_000;

export interface Subscriber {
  /** Tenant and user as one opaque key. */
  readonly principal: string;
  /** Opens the upstream stream with this subscriber's access. Undefined if the server supports no notifications. */
  readonly openStream: (signal: AbortSignal) => Promise<OpenStream | undefined>;
  /** Checked for every notification, so that a user who lost access receives nothing more. */
  readonly isAllowed: () => boolean;
  readonly onNotification: (notification: ServerNotification) => void;
}

export interface ServerSubscription {
  /** Starts updates of this resource. Rejects with the error of the server. */
  subscribeResource(uri: string): Promise<void>;
  unsubscribeResource(uri: string): void;
  /** Idempotent. */
  close(): void;
}

/** Subscribers with the same key share an upstream stream. */
interface SubscriptionKey {
  readonly key: string;
  /** The user that owns the stream. Undefined for the stream of a shared server. */
  readonly owner: string | undefined;
  readonly serverId: string;
}

/** One upstream stream per server and user, or per shared server, while it has subscribers. */
export interface ServerSubscriptions {
  subscribe(key: SubscriptionKey, subscriber: Subscriber): ServerSubscription;
  /** Reopens this user's streams, because the credential they present is outdated. */
  renew(principal: string, serverId: string | undefined): void;
  /** Number of upstream streams. */
  readonly size: number;
  close(): void;
}

export function createServerSubscriptions(parts: {
  readonly clock: Clock;
  readonly random: Random;
}): ServerSubscriptions {
  const entries = new Map<string, SubscriptionKey & { readonly upstream: UpstreamSubscription }>();
  const countByUser = new Map<string, number>();

  function adjustCount(principal: string, delta: 1 | -1): void {
    const updated = (countByUser.get(principal) ?? 0) + delta;
    if (updated > 0) countByUser.set(principal, updated);
    else countByUser.delete(principal);
  }

  function getOrCreate(subscriptionKey: SubscriptionKey): UpstreamSubscription {
    const { key, owner } = subscriptionKey;
    const existing = entries.get(key);
    if (existing) return existing.upstream;
    if (owner !== undefined) {
      const userStreams = [...entries.values()].filter((entry) => entry.owner !== undefined);
      const ownStreams = userStreams.filter((entry) => entry.owner === owner);
      if (ownStreams.length >= MAX_STREAMS_PER_USER || userStreams.length >= MAX_USER_STREAMS)
        throw createLimitError();
    }
    const upstream = createUpstreamSubscription({
      ...parts,
      isShared: owner === undefined,
      onEmpty: () => void entries.delete(key),
    });
    entries.set(key, { ...subscriptionKey, upstream });
    return upstream;
  }

  return {
    subscribe(subscriptionKey, subscriber) {
      const { principal } = subscriber;
      if ((countByUser.get(principal) ?? 0) >= MAX_SUBSCRIPTIONS_PER_USER) throw createLimitError();
      const subscription = getOrCreate(subscriptionKey).add(subscriber);
      adjustCount(principal, 1);
      let isClosed = false;
      return {
        ...subscription,
        close() {
          if (isClosed) return;
          isClosed = true;
          adjustCount(principal, -1);
          subscription.close();
        },
      };
    },
    renew(principal, serverId) {
      for (const entry of entries.values()) {
        if (entry.owner === principal && (serverId === undefined || entry.serverId === serverId))
          entry.upstream.renew();
      }
    },
    get size() {
      return entries.size;
    },
    close() {
      for (const { upstream } of [...entries.values()]) upstream.close();
      entries.clear();
    },
  };
}

function createLimitError(): GatewayError {
  return new GatewayError('MCP_RATE_LIMITED', {
    detail: 'Too many subscriptions are open. Close one first.',
  });
}

import type { Clock, Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Notice } from '../upstream/upstream.ts';
import { createFeed, type Feed, type Standing } from './feed.ts';

/**
 * What one user may watch, on all streams that they may have open, and over how many connections of their own: those are
 * held open meanwhile, however many watch.
 */
const MOST_WATCHES = 1_024;
const MOST_OWN_FEEDS = 16;
/** Of all users: half of what may be open for them in all, so that calls find room. */
const MOST_FEEDS = 1_000;

/** One who wants to know when something changes at a server. */
export interface Watcher {
  /** Whose watch it is, as one text. */
  readonly principal: string;
  /** Makes the feed stand on this watcher's word; undefined: there is nothing to be heard there, now or later. */
  readonly stand: (signal: AbortSignal) => Promise<Standing | undefined>;
  /** Asked with every notice: what its user may not see any more is not told. */
  readonly mayHear: () => boolean;
  readonly hear: (notice: Notice) => void;
}

export interface Watch {
  /** Hears from now on when this resource is updated. Rejects as the server does. */
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): void;
  /** Idempotent. */
  stop(): void;
}

/** Which feed it is: two watchers with one key hear the same stream. */
export interface FeedKey {
  readonly key: string;
  /** Whose own it is; undefined for the one that everybody shares. */
  readonly owner: string | undefined;
  readonly serverId: string;
}

/** Everything that is watched: one feed for each server and user, or for each shared server, while anybody watches. */
export interface Watches {
  watch(feed: FeedKey, watcher: Watcher): Watch;
  /** What is presented in this user's name is outdated. */
  renew(principal: string, serverId: string | undefined): void;
  /** How many feeds there are. */
  readonly size: number;
  close(): void;
}

export function createWatches(parts: { readonly clock: Clock; readonly random: Random }): Watches {
  const feeds = new Map<string, { readonly at: FeedKey; readonly feed: Feed }>();
  const counts = new Map<string, number>();

  function count(principal: string, more: 1 | -1): void {
    const number = (counts.get(principal) ?? 0) + more;
    if (number > 0) counts.set(principal, number);
    else counts.delete(principal);
  }

  function obtain(at: FeedKey): Feed {
    const known = feeds.get(at.key);
    if (known) return known.feed;
    const all = [...feeds.values()].filter(({ at: { owner } }) => owner !== undefined);
    const own = all.filter(({ at: { owner } }) => owner === at.owner);
    const isFull = at.owner !== undefined && (own.length >= MOST_OWN_FEEDS || all.length >= MOST_FEEDS);
    if (isFull) throw new GatewayError('MCP_RATE_LIMITED', { detail: TOO_MANY });
    const shared = at.owner === undefined;
    const feed = createFeed({ ...parts, shared, onEmpty: () => void feeds.delete(at.key) });
    feeds.set(at.key, { at, feed });
    return feed;
  }

  return {
    watch(at, watcher) {
      const { principal } = watcher;
      if ((counts.get(principal) ?? 0) >= MOST_WATCHES) {
        throw new GatewayError('MCP_RATE_LIMITED', { detail: TOO_MANY });
      }
      const watching = obtain(at).add(watcher);
      count(principal, 1);
      let stopped = false;
      return {
        subscribe: (uri) => watching.subscribe(uri),
        unsubscribe: (uri) => watching.unsubscribe(uri),
        stop() {
          if (stopped) return;
          stopped = true;
          count(principal, -1);
          watching.stop();
        },
      };
    },
    renew(principal, serverId) {
      for (const { at, feed } of feeds.values()) {
        if (at.owner === principal && (serverId === undefined || at.serverId === serverId)) feed.renew();
      }
    },
    get size() {
      return feeds.size;
    },
    close() {
      for (const { feed } of [...feeds.values()]) feed.close();
      feeds.clear();
    },
  };
}

const TOO_MANY = 'Too much is watched at once. Stop watching something first.';

import type { ListKind } from '../upstream/upstream.ts';

/** Of which lists of shared servers changes are heard at this moment. */
export interface ListFeeds {
  /** A connection to this server begins, in place of the one before. */
  begin(serverId: string): ListFeed;
  follows(serverId: string, kind: ListKind): boolean;
}

export interface ListFeed {
  hear(lists: readonly ListKind[]): void;
  end(): void;
}

/** Who is told to keep a list must hear when it changes: it takes a server that announces it, and a stream that is open. */
export function createListFeeds(): ListFeeds {
  const feeds = new Map<string, { lists: readonly ListKind[] }>();
  return {
    begin(serverId) {
      const feed: { lists: readonly ListKind[] } = { lists: [] };
      feeds.set(serverId, feed);
      return {
        hear: (lists) => void (feed.lists = lists),
        end() {
          // One that is over says nothing of the one that came in its place.
          if (feeds.get(serverId) === feed) feeds.delete(serverId);
        },
      };
    },
    follows: (serverId, kind) => feeds.get(serverId)?.lists.includes(kind) ?? false,
  };
}

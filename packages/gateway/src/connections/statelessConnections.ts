import type { RemoteTarget } from '../upstream/target.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { UserServer } from '../registry/server.ts';
import { leastRecentlyUsed } from './capacity.ts';
import type { Connection } from './connection.ts';
import type { PoolParts } from './poolParts.ts';
import { serverKey } from './serverKey.ts';
import type { Adopted } from './slot.ts';
import { forEverybody } from './stateless.ts';

/** One for all users of a server that keeps no session. A user who is idle costs nothing here. */
export interface StatelessConnections {
  find(key: string): Connection | undefined;
  /** Keeps it for everybody, in place of the one that is there or, if that is good enough, not at all. */
  adopt(
    key: string,
    server: UserServer,
    upstream: Upstream,
    how: { readonly replace: boolean; readonly keep: boolean },
  ): Adopted;
  has(server: UserServer): boolean;
  all(): Iterable<{ readonly server: UserServer; readonly connection: Connection }>;
  retireOutdated(): void;
  sweep(): void;
  readonly size: number;
}

/** Headers are not in it: nothing was opened with them that lasts. */
export function statelessKey(server: UserServer, target: RemoteTarget): string {
  const { url, audience, proxy = null } = target;
  return JSON.stringify([server.tenant, server.id, server.revision, url, audience, proxy]);
}

export function createStatelessConnections(
  parts: Pick<PoolParts, 'clock' | 'limits' | 'closings' | 'connections' | 'current'>,
): StatelessConnections {
  const { clock, limits, closings, connections, current } = parts;
  const entries = new Map<string, { readonly server: UserServer; readonly connection: Connection }>();

  /** An address may hold a user's value, so there may be many. False when all are in use. */
  function makeRoom(): boolean {
    if (entries.size < limits.total) return true;
    const oldest = leastRecentlyUsed([...entries.values()].map(({ connection }) => connection));
    void oldest?.retire();
    return oldest !== undefined;
  }

  return {
    find: (key) => entries.get(key)?.connection,
    adopt(key, server, upstream, { replace, keep }) {
      const known = entries.get(key)?.connection;
      if (known && !replace) {
        void closings.close(upstream);
        return { connection: known, kept: 'elsewhere' };
      }
      const connection = connections.add(forEverybody(upstream), {
        onRetired(gone) {
          if (entries.get(key)?.connection === gone) entries.delete(key);
        },
      });
      if (connection.retired || !keep || !(known ?? makeRoom())) {
        return { connection, kept: 'nowhere' };
      }
      entries.set(key, { server, connection });
      void known?.retire();
      return { connection, kept: 'elsewhere' };
    },
    has(server) {
      const wanted = serverKey(server);
      for (const { server: kept } of entries.values()) {
        if (kept.revision === server.revision && serverKey(kept) === wanted) return true;
      }
      return false;
    },
    all: () => entries.values(),
    retireOutdated() {
      for (const { server, connection } of entries.values()) {
        if (!current.holds(server)) void connection.retire();
      }
    },
    sweep() {
      const old = clock.now() - limits.idleMs;
      for (const { connection } of entries.values()) {
        if (connection.borrowers === 0 && connection.usedAt <= old) void connection.retire();
      }
    },
    get size() {
      return entries.size;
    },
  };
}

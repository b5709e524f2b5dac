import { type Cancellation, type Clock, LruMap, rejectOnAbort, withTimeout } from '@behalf/kernel';
import type { UserServer } from '../definitions/definition.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { type Connection, findLeastRecentlyUsed } from './connection.ts';
import type { ConnectionLimits, PoolParts } from './connectionManager.ts';
import { tenantServerKey } from './lease.ts';

/*
 * Connections to servers of the stateless 2026-07-28 revision. All users of a server share one connection, because it
 * carries no user data: every request presents its own credential. An idle user costs nothing.
 */

/** Headers are not part of the key, because the connection does not keep them. */
export function statelessKey(server: UserServer, target: RemoteTarget): string {
  const { url, audience, proxy = null } = target;
  return JSON.stringify([server.tenant, server.id, server.revision, url, audience, proxy]);
}

export function createStatelessConnections(parts: PoolParts) {
  const { clock, limits, registry, activeRevisions } = parts;
  const entries = new Map<string, { readonly server: UserServer; readonly connection: Connection }>();

  /** A URL can contain a user's value, so one server can have many entries. Returns false if all are in use. */
  function evictIfFull(): boolean {
    if (entries.size < limits.maxTotal) return true;
    const oldest = findLeastRecentlyUsed([...entries.values()].map(({ connection }) => connection));
    void oldest?.retire();
    return oldest !== undefined;
  }

  return {
    find: (key: string) => entries.get(key)?.connection,
    /** Caches the upstream for all users. Without `shouldReplace` an existing connection wins and the upstream closes. */
    adopt(
      key: string,
      server: UserServer,
      upstream: Upstream,
      { shouldReplace, shouldCache }: { readonly shouldReplace: boolean; readonly shouldCache: boolean },
    ) {
      const existing = entries.get(key)?.connection;
      if (existing && !shouldReplace) {
        registry.discard(upstream);
        return { connection: existing, cachedIn: 'stateless_pool' } as const;
      }
      const connection = registry.add(withoutInstructions(upstream), {
        onRetired(retired) {
          if (entries.get(key)?.connection === retired) entries.delete(key);
        },
      });
      if (connection.isRetired || !shouldCache || !(existing ?? evictIfFull())) {
        return { connection, cachedIn: 'none' } as const;
      }
      entries.set(key, { server, connection });
      void existing?.retire();
      return { connection, cachedIn: 'stateless_pool' } as const;
    },
    has(server: UserServer): boolean {
      const key = tenantServerKey(server);
      for (const { server: cached } of entries.values()) {
        if (cached.revision === server.revision && tenantServerKey(cached) === key) return true;
      }
      return false;
    },
    list: () => entries.values(),
    retireOutdated(): void {
      for (const { server, connection } of entries.values()) {
        if (!activeRevisions.isActive(server)) void connection.retire();
      }
    },
    sweep(): void {
      const cutoff = clock.now() - limits.idleTimeoutMs;
      for (const { connection } of entries.values()) {
        if (connection.borrowerCount === 0 && connection.lastUsedAt <= cutoff) void connection.retire();
      }
    },
    get size() {
      return entries.size;
    },
  };
}

/** Removes instructions: the server may have written them for the user who connected first, or that user may have. */
function withoutInstructions(upstream: Upstream): Upstream {
  const { claims } = upstream;
  return claims.instructions === undefined
    ? upstream
    : { ...upstream, claims: { ...claims, instructions: undefined } };
}

/**
 * The first user of a server finds out whether it is stateless while the other users wait. If the server is stateless,
 * all of them use the one connection. If it keeps sessions, each opens a connection, and later users do not wait.
 */
export function createSessionModeProbe(clock: Clock, limits: ConnectionLimits) {
  const running = new Map<string, Promise<void>>();
  const sessionBased = new LruMap<string, true>(limits.maxEntries);

  return {
    isRunning: (key: string) => running.has(key),
    /** Waits for a running probe, at most `probeWaitMs`. */
    async waitForResult(key: string, signal: Cancellation): Promise<void> {
      const probe = running.get(key);
      if (!probe) return;
      await rejectOnAbort(
        withTimeout(clock, limits.probeWaitMs, probe, () => undefined),
        signal,
      );
    },
    /** Makes the caller the probe, unless there is one. The caller must call the returned function when it is done. */
    start(key: string): () => void {
      if (running.has(key) || sessionBased.has(key)) return () => undefined;
      let finish: () => void = () => undefined;
      const probe = new Promise<void>((resolve) => (finish = resolve));
      running.set(key, probe);
      return () => {
        if (running.get(key) === probe) running.delete(key);
        finish();
      };
    },
    /** The server keeps sessions. It needs no further probe. */
    markSessionBased: (key: string) => sessionBased.set(key, true),
  };
}

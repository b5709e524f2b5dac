import { type Cancellation, type Clock, rejectOnAbort, withTimeout } from '@behalf/kernel';
import type { UserServer } from '../servers/definition.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { type Connection, findLeastRecentlyUsed, withoutInstructions } from './connection.ts';
import type { ConnectionLimits, PoolParts } from './connectionManager.ts';
import { tenantServerKey } from './revisions.ts';
import type { AdoptResult } from './slot.ts';

/** One for all users of a server that keeps no session. A user who is idle costs nothing here. */
interface StatelessConnections {
  find(key: string): Connection | undefined;
  /** Keeps it for everybody, in place of the one that is there or, if that is good enough, not at all. */
  adopt(
    key: string,
    server: UserServer,
    upstream: Upstream,
    options: { readonly shouldReplace: boolean; readonly shouldCache: boolean },
  ): AdoptResult;
  has(server: UserServer): boolean;
  list(): Iterable<{ readonly server: UserServer; readonly connection: Connection }>;
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
  parts: Pick<PoolParts, 'clock' | 'limits' | 'closeTracker' | 'connections' | 'activeRevisions'>,
): StatelessConnections {
  const { clock, limits, closeTracker, connections, activeRevisions } = parts;
  const entries = new Map<string, { readonly server: UserServer; readonly connection: Connection }>();

  /** An address may hold a user's value, so there may be many. False when all are in use. */
  function evictIfFull(): boolean {
    if (entries.size < limits.maxTotal) return true;
    const oldest = findLeastRecentlyUsed([...entries.values()].map(({ connection }) => connection));
    void oldest?.retire();
    return oldest !== undefined;
  }

  return {
    find: (key) => entries.get(key)?.connection,
    adopt(key, server, upstream, { shouldReplace, shouldCache }) {
      const existing = entries.get(key)?.connection;
      if (existing && !shouldReplace) {
        void closeTracker.close(upstream);
        return { connection: existing, cachedIn: 'stateless_pool' };
      }
      const connection = connections.add(withoutInstructions(upstream), {
        onRetired(retired) {
          if (entries.get(key)?.connection === retired) entries.delete(key);
        },
      });
      if (connection.isRetired || !shouldCache || !(existing ?? evictIfFull())) {
        return { connection, cachedIn: 'none' };
      }
      entries.set(key, { server, connection });
      void existing?.retire();
      return { connection, cachedIn: 'stateless_pool' };
    },
    has(server) {
      const key = tenantServerKey(server);
      for (const { server: cached } of entries.values()) {
        if (cached.revision === server.revision && tenantServerKey(cached) === key) return true;
      }
      return false;
    },
    list: () => entries.values(),
    retireOutdated() {
      for (const { server, connection } of entries.values()) {
        if (!activeRevisions.isActive(server)) void connection.retire();
      }
    },
    sweep() {
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

/**
 * Whoever opens a server first finds out whether it keeps sessions. If it keeps none, one opening is enough for all
 * who come meanwhile; if it does, each opens their own, and nobody waits for another again.
 */
interface SessionModeProbe {
  /** Waits for the scout, if one is out: not long, and once. */
  waitForResult(key: string, signal: Cancellation): Promise<void>;
  isRunning(key: string): boolean;
  /** Goes ahead; returns how to report back, which must be called in any case. */
  start(key: string): () => void;
  /** It keeps sessions: no scout is needed. */
  markSessionBased(key: string): void;
}

export function createSessionModeProbe(clock: Clock, limits: ConnectionLimits): SessionModeProbe {
  const running = new Map<string, Promise<void>>();
  const sessionBased = new Set<string>();

  return {
    isRunning: (key) => running.has(key),
    async waitForResult(key, signal) {
      const probe = running.get(key);
      if (probe)
        await rejectOnAbort(
          withTimeout(clock, limits.probeWaitMs, probe, () => undefined),
          signal,
        );
    },
    start(key) {
      if (running.has(key) || sessionBased.has(key)) return () => undefined;
      let finish: () => void = () => undefined;
      const probe = new Promise<void>((resolve) => (finish = resolve));
      running.set(key, probe);
      return () => {
        if (running.get(key) === probe) running.delete(key);
        finish();
      };
    },
    markSessionBased(key) {
      if (sessionBased.size >= limits.maxEntries)
        sessionBased.delete(sessionBased.values().next().value as string);
      sessionBased.add(key);
    },
  };
}

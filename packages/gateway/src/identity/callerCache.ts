import type { Clock } from '@behalf/kernel';
import type { ChangeFeed, ChangeTopic } from '../ports/index.ts';
import type { Principal } from '../principal/principal.ts';
import { createReplicatedCache } from '../replication/replicatedCache.ts';
import { hashSecret } from './hashSecret.ts';

const MAX_ENTRIES = 20_000;
/** How long known callers can continue while the store is unreachable. */
const MAX_OUTAGE_MS = 30_000;

/** The owner of a secret, and the time at which the secret expires. */
export interface ResolvedCaller {
  readonly caller: Principal;
  readonly until: number;
}

export interface CallerCache {
  /**
   * The owner of the secret; null if there is none. No I/O while the cached answer is current. `connection` is the connection
   * of the request: a connection that sends the same secret again saves the hash.
   */
  resolve(secret: string, connection?: object): Principal | Promise<Principal | null>;
  /** Whether the secret was valid at the last read. It may have been invalidated since. */
  isCached(secret: string, connection?: object): boolean;
  close(): void;
}

interface CallerCacheParts {
  /** Reads the owner from the store, or verifies the token. */
  readonly read: (secret: string) => Promise<ResolvedCaller | null>;
  /** The topic whose changes carry the hash of one secret; null if there is none. */
  readonly topic: ChangeTopic | null;
  /** Increases when accepted secrets must be verified again, for example after a change of the issuer's keys. */
  readonly generation?: () => number;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

/**
 * Caches the callers of session cookies, API keys or bearer tokens by the hash of the secret.
 *
 * Invariants:
 * - A revocation takes effect within 2 s, or as soon as its notice arrives.
 * - Only valid secrets are cached, so that guesses cannot evict known callers.
 * - While the store is unreachable, known callers continue for 30 s unless a notice invalidated them. Unknown secrets fail.
 */
export function createCallerCache(parts: CallerCacheParts): CallerCache {
  const { read, topic, generation = () => 0, changes, clock } = parts;
  const hashByConnection = new WeakMap<object, { readonly secret: string; readonly hash: string }>();
  const cache = createReplicatedCache<(ResolvedCaller & { readonly generation: number }) | null>({
    ...{ changes, clock, maxEntries: MAX_ENTRIES, maxStaleMs: MAX_OUTAGE_MS },
    affectedBy({ topic: changedTopic, id }) {
      if (changedTopic !== topic && changedTopic !== 'users') return undefined;
      if (id === '*') return 'all';
      return changedTopic === 'users' ? { where: (value) => value?.caller.userId === id } : { key: id };
    },
    isUsable: (value) => value?.generation === generation() && clock.now() < value.until,
    // For `isCached`: a change of one caller must not turn the others into unknown ones for the rate limit of guesses.
    keepInvalidated: true,
  });

  function hashOf(secret: string, connection: object | undefined): string {
    if (!connection) return hashSecret(secret);
    const last = hashByConnection.get(connection);
    if (last?.secret === secret) return last.hash;
    const hash = hashSecret(secret);
    hashByConnection.set(connection, { secret, hash });
    return hash;
  }

  async function load(secret: string, hash: string): Promise<Principal | null> {
    const ownLoad = { hasStarted: false };
    const loadCaller = async () => {
      ownLoad.hasStarted = true;
      // Taken before the read: keys that change during it invalidate the result.
      const startGeneration = generation();
      const resolved = await read(secret);
      return resolved && { ...resolved, generation: startGeneration };
    };
    let found = await cache.read(hash, loadCaller);
    // A verification that this call joined may have started before the keys changed.
    if (!ownLoad.hasStarted && found && found.generation !== generation())
      found = await cache.reload(hash, loadCaller);
    return found && clock.now() < found.until ? found.caller : null;
  }

  return {
    isCached: (secret, connection) => cache.has(hashOf(secret, connection)),
    resolve(secret, connection) {
      const hash = hashOf(secret, connection);
      return cache.get(hash)?.caller ?? load(secret, hash);
    },
    close: () => cache.close(),
  };
}

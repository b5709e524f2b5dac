import type { Clock } from '@behalf/kernel';
import { isCurrent, type ChangeFeed, type ChangeTopic } from '../ports/index.ts';
import type { Principal } from '../principal/principal.ts';
import { hashSecret } from './hashSecret.ts';

const MAX_ENTRIES = 20_000;
/** For how long calls run on while the store does not answer. */
const MAX_OUTAGE_MS = 30_000;

/** Who holds a secret, and until when at the latest. */
export interface ResolvedCaller {
  readonly caller: Principal;
  readonly until: number;
}

interface Entry extends ResolvedCaller {
  readonly generation: number;
  /** `DOUBTED` when a notice came since. */
  readAt: number;
}

/** Longer ago than anything may be relied on. */
const INVALIDATED = -Infinity;

export interface CallerCache {
  /**
   * Who holds this secret. Without I/O for as long as an answer may be trusted. `carrier` is what brought it, a
   * connection: one that brings the same secret again and again saves hashing it.
   */
  resolve(secret: string, connection?: object): Principal | Promise<Principal | null>;
  /** Whether this secret was good a moment ago; it may have to be looked at again. */
  isCached(secret: string, connection?: object): boolean;
  close(): void;
}

interface CallerCacheParts {
  /** Asks the store, or the issuer's keys. */
  readonly read: (secret: string) => Promise<ResolvedCaller | null>;
  /** Which notices tell of single secrets, by their hash; null where there are none. */
  readonly topic: ChangeTopic | null;
  /** Moves when what was accepted may be accepted no longer, such as with the keys of an issuer. */
  readonly generation?: () => number;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

/** Only who is known is remembered: guesses must not push the others out. */
export function createCallerCache(parts: CallerCacheParts): CallerCache {
  const { read, topic, generation = () => 0, changes, clock } = parts;
  const entries = new Map<string, Entry>();
  const hashByConnection = new WeakMap<object, { readonly secret: string; readonly hash: string }>();
  /** Counts notices: what was read before one may be what it told about. */
  let epoch = 0;

  // What a notice may be about is read again before it counts, and stays known until then: others' changes must not
  // make strangers of people whose neighbour guesses.
  const unsubscribe = changes.subscribe(({ topic: changedTopic, id }) => {
    if (changedTopic !== topic && changedTopic !== 'users') return;
    epoch += 1;
    for (const [hash, entry] of entries) {
      const isAffected = changedTopic === 'users' ? entry.caller.userId === id : hash === id;
      if (isAffected || id === '*') entry.readAt = INVALIDATED;
    }
  });

  function hashForConnection(connection: object, secret: string): string {
    const last = hashByConnection.get(connection);
    if (last?.secret === secret) return last.hash;
    const hash = hashSecret(secret);
    hashByConnection.set(connection, { secret, hash });
    return hash;
  }

  /** While the store does not answer, calls run on for a while with what was known. */
  function isUsableDuringOutage({ readAt, until }: Entry): boolean {
    const now = clock.now();
    if (readAt === INVALIDATED || now >= until) return false;
    return now - Math.max(readAt, changes.syncedUntil()) < MAX_OUTAGE_MS;
  }

  async function load(secret: string, hash: string): Promise<Principal | null> {
    const startEpoch = epoch;
    // As for notices: what was judged by the keys before these is judged again.
    const startGeneration = generation();
    const readAt = clock.now();
    let found: ResolvedCaller | null;
    try {
      found = await read(secret);
    } catch (error) {
      const cached = entries.get(hash);
      if (cached?.generation === startGeneration && startEpoch === epoch && isUsableDuringOutage(cached))
        return cached.caller;
      throw error;
    }
    entries.delete(hash);
    if (!found || found.until <= clock.now()) return null;
    // The map keeps insertion order, so the first one is the one read longest ago.
    if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value ?? '');
    entries.set(hash, {
      ...found,
      readAt: startEpoch === epoch ? readAt : INVALIDATED,
      generation: startGeneration,
    });
    return found.caller;
  }

  const hashOf = (secret: string, connection: object | undefined) =>
    connection ? hashForConnection(connection, secret) : hashSecret(secret);

  return {
    isCached: (secret, connection) => entries.has(hashOf(secret, connection)),
    resolve(secret, connection) {
      const hash = hashOf(secret, connection);
      const entry = entries.get(hash);
      const now = clock.now();
      const isCurrentGeneration = entry?.generation === generation();
      if (entry && isCurrentGeneration && now < entry.until && isCurrent(changes, now, entry.readAt))
        return entry.caller;
      return load(secret, hash);
    },
    close: unsubscribe,
  };
}

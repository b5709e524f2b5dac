import {
  type Cancel,
  type Clock,
  type Keyring,
  LruMap,
  type SealContext,
  SealError,
  withTimeout,
} from '@behalf/kernel';
import type { Cache } from '../../ports/index.ts';
import { type ServerSnapshot, usesGraph, usesObo } from '../../definitions/definition.ts';
import type { Log } from '../../upstream/upstream.ts';
import type { InFlightExchange } from './exchangeFlight.ts';
import type { ExchangedToken } from './exchangeProvider.ts';
import type { ExchangeJob, Exchanger, ExchangerLimits } from './exchanger.ts';
import type { Subject } from './subject.ts';

/*
 * The cache of exchanged tokens, in two tiers: memory, and a cache shared by all replicas. Invariants:
 * - A token is returned only until `usableUntil`: before its own expiry minus a skew, and before the expiry of the user's token.
 * - A token in the shared tier is sealed and bound to its cache key. It cannot be opened under another key.
 * - After an eviction, an exchange in progress neither writes its token nor returns an evicted one to new callers.
 * - A failure of the shared tier costs an exchange and never a call.
 */

interface TokenCache {
  peek(key: string): ExchangedToken | undefined;
  /** A cached token for an exchange in progress. */
  find(flight: InFlightExchange, job: ExchangeJob): Promise<ExchangedToken | undefined>;
  /** Writes memory first, then the shared tier. Writes nothing if the holder was evicted since the exchange started. */
  store(flight: InFlightExchange, job: ExchangeJob, token: ExchangedToken): Promise<void>;
  evict(key: string, token: string): Promise<void>;
  evictPrincipal(principal: string): Promise<void>;
  evictServer(tenant: string, serverId: string): Promise<void>;
}

interface TokenCacheParts {
  readonly memory: MemoryTier;
  readonly shared: SharedTier;
  readonly clock: Clock;
  readonly limits: Pick<ExchangerLimits, 'minCacheableMs'>;
  /** Every exchange in progress. */
  readonly inFlight: () => Iterable<InFlightExchange>;
}

export function createTokenCache({ memory, shared, clock, limits, inFlight }: TokenCacheParts): TokenCache {
  const isEvicted = (flight: InFlightExchange, { token }: ExchangedToken) =>
    flight.isStale || flight.refusedTokens.has(token);

  async function evictHolders(isAffected: (holder: Holder) => boolean): Promise<void> {
    const keys = new Set(memory.removeHolders(isAffected));
    for (const flight of inFlight()) {
      if (!isAffected(flight.holder)) continue;
      flight.isStale = true;
      // It may have written its token already.
      keys.add(flight.key);
    }
    await Promise.all([...keys].map((key) => shared.delete(key)));
  }

  return {
    peek: (key) => memory.get(key)?.token,
    async find(flight, { key, request, holder }) {
      const fromMemory = memory.get(key);
      if (fromMemory && !flight.refusedTokens.has(fromMemory.token.token)) return fromMemory.token;
      const fromShared = await shared.get(key);
      if (!fromShared || flight.refusedTokens.has(fromShared.token.token)) return undefined;
      // The other replica may have known a later expiry of the user's token.
      const usableUntil = Math.min(fromShared.usableUntil, request.subject.expiresAt);
      if (usableUntil <= clock.now()) return undefined;
      if (!flight.isStale) memory.put(key, { ...fromShared, usableUntil }, holder);
      return fromShared.token;
    },
    async store(flight, { key, request, holder }, token) {
      const cached = toCachedToken(token, request.subject);
      if (cached.usableUntil - clock.now() < limits.minCacheableMs) {
        // Remove the token that this one was meant to replace.
        memory.delete(key);
        return shared.delete(key);
      }
      if (isEvicted(flight, token)) return;
      if (!memory.put(key, cached, holder)) return;
      await shared.put(key, cached);
      // The eviction may have deleted the key before this write.
      if (isEvicted(flight, token)) await shared.deleteToken(key, token.token);
    },
    async evict(key, token) {
      for (const flight of inFlight()) if (flight.key === key) flight.refusedTokens.add(token);
      if (memory.get(key)?.token.token === token) memory.delete(key);
      await shared.deleteToken(key, token);
    },
    evictPrincipal: (principal) => evictHolders((holder) => holder.principal === principal),
    evictServer: (tenant, serverId) =>
      evictHolders((holder) => holder.tenant === tenant && holder.serverId === serverId),
  };
}

/** All times are absolute. */
interface CachedToken {
  readonly token: ExchangedToken;
  readonly usableUntil: number;
  /** Start of the exchange. Of two tokens, the one requested later is kept. */
  readonly requestedAt: number;
}

/** The skew covers the transmission and the clock difference to the server. */
const MAX_SKEW_MS = 60_000;

export function toCachedToken(token: ExchangedToken, subject: Pick<Subject, 'expiresAt'>): CachedToken {
  const skewMs = Math.min(MAX_SKEW_MS, token.lifetimeMs / 10);
  return {
    token,
    usableUntil: Math.min(token.expiresAt - skewMs, subject.expiresAt),
    requestedAt: token.expiresAt - token.lifetimeMs,
  };
}

type Holder = ExchangeJob['holder'];

/** Tokens in this process. */
interface MemoryTier {
  get(key: string): CachedToken | undefined;
  /** False if the tier has a token that was requested later. */
  put(key: string, cached: CachedToken, holder: Holder): boolean;
  delete(key: string): void;
  /** Removes the tokens of all matching holders and returns their keys. Scans all entries: evictions are rare. */
  removeHolders(isAffected: (holder: Holder) => boolean): readonly string[];
  readonly size: number;
  close(): void;
}

export function createMemoryTier(
  clock: Clock,
  { maxCachedTokens, sweepIntervalMs }: Pick<ExchangerLimits, 'maxCachedTokens' | 'sweepIntervalMs'>,
): MemoryTier {
  const entries = new LruMap<string, { readonly cached: CachedToken; readonly holder: Holder }>(
    maxCachedTokens,
  );
  let cancelSweep: Cancel | undefined;

  function sweep(): void {
    const now = clock.now();
    for (const [key, { cached }] of entries) if (cached.usableUntil <= now) entries.delete(key);
    cancelSweep = entries.size > 0 ? clock.timer(sweepIntervalMs, sweep) : undefined;
  }

  return {
    get(key) {
      const cached = entries.get(key)?.cached;
      if (!cached || cached.usableUntil > clock.now()) return cached;
      entries.delete(key);
      return undefined;
    },
    put(key, cached, holder) {
      const existing = entries.peek(key)?.cached;
      if (existing && existing.requestedAt > cached.requestedAt) return false;
      entries.set(key, { cached, holder });
      cancelSweep ??= clock.timer(sweepIntervalMs, sweep);
      return true;
    },
    delete: (key) => void entries.delete(key),
    removeHolders(isAffected) {
      const affected = [...entries].filter(([, { holder }]) => isAffected(holder)).map(([key]) => key);
      for (const key of affected) entries.delete(key);
      return affected;
    },
    get size() {
      return entries.size;
    },
    close() {
      cancelSweep?.();
      entries.clear();
    },
  };
}

/** Sealed tokens that all replicas share. */
interface SharedTier {
  /** False for a short time after a failure. Then waiting for another replica's token is useless. */
  readonly isAvailable: boolean;
  get(key: string): Promise<CachedToken | undefined>;
  /** Does nothing if the tier has a token that was requested later. */
  put(key: string, cached: CachedToken): Promise<void>;
  delete(key: string): Promise<void>;
  /** Deletes the entry if it contains this token. */
  deleteToken(key: string, token: string): Promise<void>;
}

interface SharedTierParts {
  readonly cache: Cache;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: Pick<ExchangerLimits, 'sharedTimeoutMs' | 'cachePauseMs'>;
}

export function createSharedTier({ cache, keyring, clock, log, limits }: SharedTierParts): SharedTier {
  let pausedUntil = -Infinity;
  const isPaused = () => clock.now() < pausedUntil;

  async function callCache<T>(operation: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await withTimeout(clock, limits.sharedTimeoutMs, work(), () => {
        throw new Error('timed out');
      });
    } catch (error) {
      pausedUntil = clock.now() + limits.cachePauseMs;
      log('obo_cache_failed', { operation, reason: error instanceof Error ? error.message : 'unknown' });
      return undefined;
    }
  }

  async function read(key: string): Promise<CachedToken | undefined> {
    const sealed = await callCache('get', async () => cache.get(key));
    if (sealed === undefined) return undefined;
    const cached = unseal(sealed, key);
    if (typeof cached !== 'string') return cached.usableUntil > clock.now() ? cached : undefined;
    // The entry was tampered with, or its key was removed.
    log('obo_cache_unreadable', { reason: cached });
    await callCache('delete', async () => cache.delete(key));
    return undefined;
  }

  /** Returns the reason if the entry cannot be opened. */
  function unseal(sealed: string, key: string): CachedToken | string {
    try {
      return parseCachedToken(JSON.parse(keyring.open(sealed, toSealContext(key)))) ?? 'malformed';
    } catch (error) {
      // The message of a JSON parser would quote the text.
      return error instanceof SealError ? error.reason : 'malformed';
    }
  }

  return {
    get isAvailable() {
      return !isPaused();
    },
    get: async (key) => (isPaused() ? undefined : read(key)),
    async put(key, cached) {
      const existing = isPaused() ? undefined : await read(key);
      if (isPaused() || (existing && existing.requestedAt > cached.requestedAt)) return;
      const remainingMs = cached.usableUntil - clock.now();
      if (remainingMs <= 0) return;
      await callCache('set', async () =>
        cache.set(key, keyring.seal(JSON.stringify(cached), toSealContext(key)), remainingMs),
      );
    },
    // Sent even during a pause: an eviction is worth the delay.
    delete: async (key) => void (await callCache('delete', async () => cache.delete(key))),
    async deleteToken(key, token) {
      const cached = await read(key);
      if (cached?.token.token === token) await callCache('delete', async () => cache.delete(key));
    },
  };
}

/** The cache key already contains tenant, user and server. */
function toSealContext(key: string): SealContext {
  return { tenant: '-', principal: '-', server: '-', kind: 'obo', field: 'token', binding: [key] };
}

/** Another version of the gateway may have written the entry. */
function parseCachedToken(value: unknown): CachedToken | undefined {
  const { token, usableUntil, requestedAt } = (value ?? {}) as Partial<CachedToken>;
  const isComplete = typeof usableUntil === 'number' && typeof requestedAt === 'number' && !!token?.token;
  return isComplete ? { token, usableUntil, requestedAt } : undefined;
}

/**
 * Returns a function that receives the current servers and evicts the tokens of changed and removed ones. Their cache keys no longer
 * match, so no call can use these tokens; the eviction only removes them before they expire.
 */
export function createOutdatedTokenEviction(
  exchanger: Pick<Exchanger, 'evictServer'>,
): (servers: readonly ServerSnapshot[]) => void {
  let previous = new Map<string, ServerSnapshot>();
  return (servers) => {
    const current = new Map(
      servers
        .filter(({ settings }) => usesObo(settings) || usesGraph(settings))
        .map((server) => [JSON.stringify([server.tenant, server.id]), server]),
    );
    for (const [key, { tenant, id, revision, securityDecision }] of previous) {
      const server = current.get(key);
      const isUnchanged =
        server?.revision === revision && server.securityDecision?.decidedBy === securityDecision?.decidedBy;
      if (!isUnchanged) void exchanger.evictServer(tenant, id);
    }
    previous = current;
  };
}

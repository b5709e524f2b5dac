import type { Clock } from '@behalf/kernel';
import type { InFlightExchange } from './inFlightExchanges.ts';
import type { ExchangedToken } from './exchangeProvider.ts';
import type { ExchangeJob } from './exchanger.ts';
import type { ExchangerLimits } from './exchangerLimits.ts';
import { toCachedToken, type CachedToken } from './cachedToken.ts';
import { principalGroup, serverGroup, type MemoryTier } from './memoryTier.ts';
import type { SharedTier } from './sharedTier.ts';

/** What may be given out again: in memory, and in the cache that all processes share. */
export interface TokenCache {
  peek(key: string): ExchangedToken | undefined;
  /** What is kept, for an exchange that is under way. */
  find(flight: InFlightExchange, job: ExchangeJob): Promise<ExchangedToken | undefined>;
  /** Memory first, then the cache; neither when whom it is for was evicted meanwhile. */
  store(flight: InFlightExchange, job: ExchangeJob, token: ExchangedToken): Promise<void>;
  evict(key: string, token: string): Promise<void>;
  evictPrincipal(principal: string): Promise<void>;
  evictServer(tenant: string, serverId: string): Promise<void>;
}

export interface TokenCacheParts {
  readonly memory: MemoryTier;
  readonly shared: SharedTier;
  readonly clock: Clock;
  readonly limits: Pick<ExchangerLimits, 'minCacheableMs'>;
  /** Every exchange under way. */
  readonly inFlight: () => Iterable<InFlightExchange>;
}

export function createTokenCache({ memory, shared, clock, limits, inFlight }: TokenCacheParts): TokenCache {
  const isEvicted = (flight: InFlightExchange, { token }: ExchangedToken) =>
    flight.isStale || flight.refusedTokens.has(token);

  async function evictGroup(group: string, isAffected: (flight: InFlightExchange) => boolean): Promise<void> {
    const keys = new Set<string>();
    for (const flight of inFlight()) {
      if (!isAffected(flight)) continue;
      flight.isStale = true;
      // It may have written already.
      keys.add(flight.key);
    }
    for (const key of memory.removeGroup(group)) keys.add(key);
    await Promise.all([...keys].map((key) => shared.delete(key)));
  }

  return {
    peek: (key) => memory.get(key)?.token,
    async find(flight, { key, request, holder }) {
      const fromMemory = memory.get(key);
      if (fromMemory && !flight.refusedTokens.has(fromMemory.token.token)) return fromMemory.token;
      const fromShared = await shared.get(key);
      if (!fromShared || flight.refusedTokens.has(fromShared.token.token)) return undefined;
      // Another process may have thought better of the user's token than this one does.
      const cached: CachedToken = {
        ...fromShared,
        usableUntil: Math.min(fromShared.usableUntil, request.subject.expiresAt),
      };
      if (cached.usableUntil <= clock.now()) return undefined;
      if (!flight.isStale) memory.put(key, cached, holder);
      return cached.token;
    },
    async store(flight, { key, request, holder }, token) {
      const cached = toCachedToken(token, request.subject);
      if (cached.usableUntil - clock.now() < limits.minCacheableMs) {
        // Nor is the one that it was to replace.
        memory.delete(key);
        return shared.delete(key);
      }
      if (isEvicted(flight, token)) return;
      if (!memory.put(key, cached, holder)) return;
      await shared.put(key, cached);
      // Evicted while it was written: the removal may have come first.
      if (isEvicted(flight, token)) await shared.deleteToken(key, token.token);
    },
    async evict(key, token) {
      for (const flight of inFlight()) if (flight.key === key) flight.refusedTokens.add(token);
      if (memory.get(key)?.token.token === token) memory.delete(key);
      await shared.deleteToken(key, token);
    },
    evictPrincipal: (principal) =>
      evictGroup(principalGroup(principal), ({ holder }) => holder.principal === principal),
    evictServer: (tenant, serverId) =>
      evictGroup(
        serverGroup(tenant, serverId),
        ({ holder }) => holder.tenant === tenant && holder.serverId === serverId,
      ),
  };
}

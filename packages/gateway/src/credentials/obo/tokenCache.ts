import type { Clock } from '@behalf/kernel';
import type { Course } from './courses.ts';
import type { ExchangedToken } from './exchangeProvider.ts';
import type { ExchangeJob } from './exchanger.ts';
import type { ExchangerLimits } from './exchangerLimits.ts';
import { keptToken, type KeptToken } from './keptToken.ts';
import { principalGroup, serverGroup, type MemoryTier } from './memoryTier.ts';
import type { SharedTier } from './sharedTier.ts';

/** What may be given out again: in memory, and in the cache that all processes share. */
export interface TokenCache {
  peek(key: string): ExchangedToken | undefined;
  /** What is kept, for an exchange that is under way. */
  find(course: Course, job: ExchangeJob): Promise<ExchangedToken | undefined>;
  /** Memory first, then the cache; neither when whom it is for was evicted meanwhile. */
  keep(course: Course, job: ExchangeJob, token: ExchangedToken): Promise<void>;
  evict(key: string, token: string): Promise<void>;
  evictPrincipal(principal: string): Promise<void>;
  evictServer(tenant: string, serverId: string): Promise<void>;
}

export interface TokenCacheParts {
  readonly memory: MemoryTier;
  readonly shared: SharedTier;
  readonly clock: Clock;
  readonly limits: Pick<ExchangerLimits, 'shortestKeptMs'>;
  /** Every exchange under way. */
  readonly courses: () => Iterable<Course>;
}

export function createTokenCache({ memory, shared, clock, limits, courses }: TokenCacheParts): TokenCache {
  const isUnwanted = (course: Course, { token }: ExchangedToken) =>
    course.isStale || course.refused.has(token);

  async function forget(group: string, isMeant: (course: Course) => boolean): Promise<void> {
    const keys = new Set<string>();
    for (const course of courses()) {
      if (!isMeant(course)) continue;
      course.isStale = true;
      // It may have written already.
      keys.add(course.key);
    }
    for (const key of memory.take(group)) keys.add(key);
    await Promise.all([...keys].map((key) => shared.delete(key)));
  }

  return {
    peek: (key) => memory.get(key)?.token,
    async find(course, { key, request, holder }) {
      const near = memory.get(key);
      if (near && !course.refused.has(near.token.token)) return near.token;
      const far = await shared.get(key);
      if (!far || course.refused.has(far.token.token)) return undefined;
      // Another process may have thought better of the user's token than this one does.
      const kept: KeptToken = { ...far, until: Math.min(far.until, request.subject.expiresAt) };
      if (kept.until <= clock.now()) return undefined;
      if (!course.isStale) memory.put(key, kept, holder);
      return kept.token;
    },
    async keep(course, { key, request, holder }, token) {
      const kept = keptToken(token, request.subject);
      if (kept.until - clock.now() < limits.shortestKeptMs) {
        // Nor is the one that it was to replace.
        memory.delete(key);
        return shared.delete(key);
      }
      if (isUnwanted(course, token)) return;
      if (!memory.put(key, kept, holder)) return;
      await shared.put(key, kept);
      // Evicted while it was written: the removal may have come first.
      if (isUnwanted(course, token)) await shared.deleteToken(key, token.token);
    },
    async evict(key, token) {
      for (const course of courses()) if (course.key === key) course.refused.add(token);
      if (memory.get(key)?.token.token === token) memory.delete(key);
      await shared.deleteToken(key, token);
    },
    evictPrincipal: (principal) =>
      forget(principalGroup(principal), ({ holder }) => holder.principal === principal),
    evictServer: (tenant, serverId) =>
      forget(
        serverGroup(tenant, serverId),
        ({ holder }) => holder.tenant === tenant && holder.serverId === serverId,
      ),
  };
}

import type { Cancel, Clock } from '@behalf/kernel';
import type { ExchangeJob } from './exchanger.ts';
import type { ExchangerLimits } from './exchangerLimits.ts';
import type { CachedToken } from './cachedToken.ts';

type Holder = ExchangeJob['holder'];

/** Tokens in this process: bounded, gone when they are over, and found by whose they are. */
export interface MemoryTier {
  get(key: string): CachedToken | undefined;
  /** False when one that was asked for later is there already. */
  put(key: string, cached: CachedToken, holder: Holder): boolean;
  delete(key: string): void;
  /** Forgets all of a principal or server, and says which keys they were. */
  removeGroup(group: string): readonly string[];
  readonly size: number;
  close(): void;
}

export function principalGroup(principal: string): string {
  return JSON.stringify(['principal', principal]);
}

export function serverGroup(tenant: string, serverId: string): string {
  return JSON.stringify(['server', tenant, serverId]);
}

interface Entry {
  readonly cached: CachedToken;
  readonly groups: readonly string[];
}

export function createMemoryTier(
  clock: Clock,
  { maxCachedTokens, sweepIntervalMs }: Pick<ExchangerLimits, 'maxCachedTokens' | 'sweepIntervalMs'>,
): MemoryTier {
  // A map keeps the order of insertion: what is used is put at the end, so the first one is the oldest.
  const entries = new Map<string, Entry>();
  const groups = new Map<string, Set<string>>();
  let cancelSweep: Cancel | undefined;

  function remove(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    for (const group of entry.groups) {
      const members = groups.get(group);
      members?.delete(key);
      if (members?.size === 0) groups.delete(group);
    }
  }

  function sweep(): void {
    const now = clock.now();
    for (const [key, { cached }] of entries) if (cached.usableUntil <= now) remove(key);
    cancelSweep = entries.size > 0 ? clock.timer(sweepIntervalMs, sweep) : undefined;
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.cached.usableUntil <= clock.now()) {
        remove(key);
        return undefined;
      }
      entries.delete(key);
      entries.set(key, entry);
      return entry.cached;
    },
    put(key, cached, { tenant, principal, serverId }) {
      const existing = entries.get(key);
      if (existing && existing.cached.requestedAt > cached.requestedAt) return false;
      remove(key);
      const groupKeys = [principalGroup(principal), serverGroup(tenant, serverId)];
      entries.set(key, { cached, groups: groupKeys });
      for (const group of groupKeys) {
        const members = groups.get(group);
        if (members) members.add(key);
        else groups.set(group, new Set([key]));
      }
      if (entries.size > maxCachedTokens) remove(entries.keys().next().value ?? '');
      cancelSweep ??= clock.timer(sweepIntervalMs, sweep);
      return true;
    },
    delete: remove,
    removeGroup(group) {
      const keys = [...(groups.get(group) ?? [])];
      for (const key of keys) remove(key);
      return keys;
    },
    get size() {
      return entries.size;
    },
    close() {
      cancelSweep?.();
      entries.clear();
      groups.clear();
    },
  };
}

import type { Cancel, Clock } from '@behalf/kernel';
import type { ExchangeJob } from './exchanger.ts';
import type { ExchangerLimits } from './exchangerLimits.ts';
import type { KeptToken } from './keptToken.ts';

type Holder = ExchangeJob['holder'];

/** Tokens in this process: bounded, gone when they are over, and found by whose they are. */
export interface MemoryTier {
  get(key: string): KeptToken | undefined;
  /** False when one that was asked for later is there already. */
  put(key: string, kept: KeptToken, holder: Holder): boolean;
  delete(key: string): void;
  /** Forgets all of a principal or server, and says which keys they were. */
  take(group: string): readonly string[];
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
  readonly kept: KeptToken;
  readonly groups: readonly string[];
}

export function createMemoryTier(
  clock: Clock,
  { mostKept, sweepMs }: Pick<ExchangerLimits, 'mostKept' | 'sweepMs'>,
): MemoryTier {
  // A map keeps the order of insertion: what is used is put at the end, so the first one is the oldest.
  const entries = new Map<string, Entry>();
  const groups = new Map<string, Set<string>>();
  let cancelSweep: Cancel | undefined;

  function remove(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    for (const name of entry.groups) {
      const members = groups.get(name);
      members?.delete(key);
      if (members?.size === 0) groups.delete(name);
    }
  }

  function sweep(): void {
    const now = clock.now();
    for (const [key, { kept }] of entries) if (kept.until <= now) remove(key);
    cancelSweep = entries.size > 0 ? clock.timer(sweepMs, sweep) : undefined;
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.kept.until <= clock.now()) {
        remove(key);
        return undefined;
      }
      entries.delete(key);
      entries.set(key, entry);
      return entry.kept;
    },
    put(key, kept, { tenant, principal, serverId }) {
      const before = entries.get(key);
      if (before && before.kept.askedAt > kept.askedAt) return false;
      remove(key);
      const names = [principalGroup(principal), serverGroup(tenant, serverId)];
      entries.set(key, { kept, groups: names });
      for (const name of names) {
        const members = groups.get(name);
        if (members) members.add(key);
        else groups.set(name, new Set([key]));
      }
      if (entries.size > mostKept) remove(entries.keys().next().value ?? '');
      cancelSweep ??= clock.timer(sweepMs, sweep);
      return true;
    },
    delete: remove,
    take(group) {
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

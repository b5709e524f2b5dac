import { createLruMap } from '../lruMap.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';

/** Writes down that credentials are in use: now and then, and in nobody's way. */
export interface LastUsedTracker {
  recordUse(id: string): void;
  recordRenewal(id: string, outcome: string): void;
  idle(): Promise<void>;
}

const MAX_ENTRIES = 20_000;

interface UsageEntry {
  writtenAt: number;
  usedAt: number;
  outcome: string;
  /** Since it was last written. */
  refreshes: number;
}

export function createLastUsedTracker({
  usage,
  clock,
  log,
  timings,
}: Pick<ResolvedVaultParts, 'usage' | 'clock' | 'log' | 'timings'>): LastUsedTracker {
  const entries = createLruMap<UsageEntry>(MAX_ENTRIES);
  const pendingWrites = new Set<Promise<void>>();

  function getEntry(id: string): UsageEntry {
    const existing = entries.get(id);
    if (existing) return existing;
    const entry: UsageEntry = { writtenAt: -Infinity, usedAt: 0, outcome: 'ok', refreshes: 0 };
    entries.set(id, entry);
    return entry;
  }

  async function write(id: string, entry: UsageEntry): Promise<void> {
    const { refreshes, outcome, usedAt } = entry;
    entry.refreshes = 0;
    try {
      const stored = await usage.find(id);
      await usage.put({
        id,
        lastUsedAt: Math.max(usedAt, stored?.lastUsedAt ?? 0),
        lastOutcome: outcome,
        refreshes: (stored?.refreshes ?? 0) + refreshes,
      });
    } catch (error) {
      entry.refreshes += refreshes;
      log('vault_usage_write_failed', { reason: error instanceof Error ? error.name : 'unknown' });
    }
  }

  function writeIfDue(id: string, entry: UsageEntry): void {
    const now = clock.now();
    if (now - entry.writtenAt < timings.usageIntervalMs) return;
    entry.writtenAt = now;
    const work: Promise<void> = write(id, entry).finally(() => pendingWrites.delete(work));
    pendingWrites.add(work);
  }

  return {
    recordUse(id) {
      const entry = getEntry(id);
      entry.usedAt = clock.now();
      writeIfDue(id, entry);
    },
    recordRenewal(id, outcome) {
      const entry = getEntry(id);
      entry.outcome = outcome;
      if (outcome === 'ok') entry.refreshes += 1;
    },
    async idle() {
      await Promise.allSettled(pendingWrites);
    },
  };
}

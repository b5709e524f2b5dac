import { createRecent } from '../recent.ts';
import type { VaultTools } from './vaultParts.ts';

/** Writes down that credentials are in use: now and then, and in nobody's way. */
export interface UsageNotes {
  used(id: string): void;
  renewed(id: string, outcome: string): void;
  idle(): Promise<void>;
}

const MOST_NOTES = 20_000;

interface Note {
  writtenAt: number;
  usedAt: number;
  outcome: string;
  /** Since it was last written. */
  refreshes: number;
}

export function createUsageNotes({
  usage,
  clock,
  log,
  timings,
}: Pick<VaultTools, 'usage' | 'clock' | 'log' | 'timings'>): UsageNotes {
  const notes = createRecent<Note>(MOST_NOTES);
  const under = new Set<Promise<void>>();

  function noteOf(id: string): Note {
    const known = notes.get(id);
    if (known) return known;
    const note: Note = { writtenAt: -Infinity, usedAt: 0, outcome: 'ok', refreshes: 0 };
    notes.set(id, note);
    return note;
  }

  async function write(id: string, note: Note): Promise<void> {
    const { refreshes, outcome, usedAt } = note;
    note.refreshes = 0;
    try {
      const before = await usage.find(id);
      await usage.put({
        id,
        lastUsedAt: Math.max(usedAt, before?.lastUsedAt ?? 0),
        lastOutcome: outcome,
        refreshes: (before?.refreshes ?? 0) + refreshes,
      });
    } catch (error) {
      note.refreshes += refreshes;
      log('vault_usage_unwritten', { reason: error instanceof Error ? error.name : 'unknown' });
    }
  }

  function writeIfDue(id: string, note: Note): void {
    const now = clock.now();
    if (now - note.writtenAt < timings.usageMs) return;
    note.writtenAt = now;
    const work: Promise<void> = write(id, note).finally(() => under.delete(work));
    under.add(work);
  }

  return {
    used(id) {
      const note = noteOf(id);
      note.usedAt = clock.now();
      writeIfDue(id, note);
    },
    renewed(id, outcome) {
      const note = noteOf(id);
      note.outcome = outcome;
      if (outcome === 'ok') note.refreshes += 1;
    },
    async idle() {
      await Promise.allSettled(under);
    },
  };
}

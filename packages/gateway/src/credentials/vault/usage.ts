import type { CredentialRecord, CredentialStatus } from '../../ports/index.ts';
import { createLruMap } from '../lruMap.ts';
import { checkBinding } from './read.ts';
import type { CredentialSummary, ResolvedVaultParts } from './vault.ts';

/** Writes down that credentials are in use: now and then, and in nobody's way. */
interface LastUsedTracker {
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

const FINGERPRINT_LENGTH = 8;

/** What may be shown of a credential, as it stands with the server of today. Opens nothing. */
export async function summarizeCredential(
  { keyring, contexts }: Pick<ResolvedVaultParts, 'keyring' | 'contexts'>,
  record: CredentialRecord,
): Promise<CredentialSummary> {
  const { id, tenant, principal, serverId, kind, label, isDefault, reason, statusAt, generation, issuer } =
    record;
  const status = await readStatus();
  return {
    ...{ id, tenant, principal, serverId, kind, label, isDefault },
    status,
    reason: status === record.status ? (status === 'active' ? null : reason) : status,
    ...{ statusAt, generation, issuer },
    scopes: record.scopesGranted,
    expiresAt: record.tokenExpiresAt,
    hasRefreshToken: record.rtHash !== null,
    fingerprint: record.atHash?.slice(0, FINGERPRINT_LENGTH) ?? null,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
  };

  /** Whether it fits and opens is nothing that is stored: a definition that is put right again brings it back. */
  async function readStatus(): Promise<CredentialStatus> {
    if (record.status !== 'active' || record.sealed === null) return record.status;
    if (!keyring.hasKeyFor(record.sealed)) return 'unreadable';
    try {
      const context = await contexts.resolve(record);
      return checkBinding(record, context === 'unbound' ? undefined : context) === 'unbound'
        ? 'unbound'
        : 'active';
    } catch {
      return 'active';
    }
  }
}

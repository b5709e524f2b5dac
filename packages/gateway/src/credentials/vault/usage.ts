import { LruMap } from '@behalf/kernel';
import { type CredentialRecord, type CredentialStatus, credentialKey } from '../../ports/index.ts';
import { checkBinding } from './read.ts';
import { type CredentialSummary, type VaultCore, errorName } from './vault.ts';

const MAX_ENTRIES = 20_000;

interface UsageEntry {
  writtenAt: number;
  usedAt: number;
  outcome: string;
  /** Since the last write. */
  refreshes: number;
}

/** Records when credentials were last used. Writes at most once per interval and never delays a call. */
export function createLastUsedTracker({ usage, clock, log, timings }: VaultCore) {
  const entries = new LruMap<string, UsageEntry>(MAX_ENTRIES);
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
      log('vault_usage_write_failed', { reason: errorName(error) });
    }
  }

  return {
    recordUse(id: string): void {
      const entry = getEntry(id);
      const now = clock.now();
      entry.usedAt = now;
      if (now - entry.writtenAt < timings.usageIntervalMs) return;
      entry.writtenAt = now;
      const work: Promise<void> = write(id, entry).finally(() => pendingWrites.delete(work));
      pendingWrites.add(work);
    },
    recordRenewal(id: string, outcome: string): void {
      const entry = getEntry(id);
      entry.outcome = outcome;
      if (outcome === 'ok') entry.refreshes += 1;
    },
    async idle(): Promise<void> {
      await Promise.allSettled(pendingWrites);
    },
  };
}

const FINGERPRINT_LENGTH = 8;

/** The visible part of a credential, with its status for the current server definition. Decrypts nothing. */
export async function summarizeCredential(
  { keyring, contexts }: Pick<VaultCore, 'keyring' | 'contexts'>,
  record: CredentialRecord,
): Promise<CredentialSummary> {
  const { id, isDefault, reason, statusAt, generation, issuer, createdAt, updatedAt } = record;
  const status = await readStatus();
  return {
    ...credentialKey(record),
    ...{ id, isDefault, status, statusAt, generation, issuer, createdAt, updatedAt },
    reason: status === record.status ? (status === 'active' ? null : reason) : status,
    scopes: record.scopesGranted,
    expiresAt: record.tokenExpiresAt,
    hasRefreshToken: record.rtHash !== null,
    fingerprint: record.atHash?.slice(0, FINGERPRINT_LENGTH) ?? null,
  };

  /** `unreadable` and `unbound` are computed, not stored: restoring a key or a definition restores the credential. */
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

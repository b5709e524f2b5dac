import { credentialId, isCurrent, type ChangeEvent, type ChangeTopic } from '../../ports/index.ts';
import { createLruMap } from '../lruMap.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';
import type { CredentialSnapshot } from './credentialSnapshot.ts';

const MAX_ENTRIES = 20_000;
/** What a credential is for is decided by these: with one of them it may fit no longer. */
const DEFINITION_TOPICS: ReadonlySet<ChangeTopic> = new Set(['servers', 'overrides', 'settings']);

/** A read that is under way. */
export interface PendingRead {
  readonly id: string;
  readonly startedAt: number;
  /** A notice came meanwhile: what it brings is good for who asked, and for nobody after. */
  isInvalidated: boolean;
}

/** Credentials as they were a moment ago: at most two seconds, and not after a notice. Holds no refresh token. */
export interface CredentialCache {
  getFresh(id: string): CredentialSnapshot | undefined;
  /** The same while the store does not answer: older, but not by much. */
  getStale(id: string): CredentialSnapshot | undefined;
  beginRead(id: string): PendingRead;
  endRead(read: PendingRead, snapshot?: CredentialSnapshot): void;
  invalidate(change: ChangeEvent): void;
  clear(): void;
}

interface Entry {
  readonly snapshot: CredentialSnapshot;
  readonly readAt: number;
  /** The notices about everybody that had been heard when it was read. */
  readonly wipeEpoch: number;
}

export function createCredentialCache({
  changes,
  localClock,
  timings,
}: Pick<ResolvedVaultParts, 'changes' | 'localClock' | 'timings'>): CredentialCache {
  const entries = createLruMap<Entry>(MAX_ENTRIES);
  const pendingReads = new Set<PendingRead>();
  let wipeEpoch = 0;

  function findValid(id: string): Entry | undefined {
    const entry = entries.get(id);
    return entry?.wipeEpoch === wipeEpoch ? entry : undefined;
  }

  return {
    getFresh(id) {
      const entry = findValid(id);
      const now = localClock.now();
      if (!entry || !isCurrent(changes, now, entry.readAt)) return undefined;
      return entry.snapshot.record || now - entry.readAt < timings.absentCacheMs ? entry.snapshot : undefined;
    },
    getStale(id) {
      const entry = findValid(id);
      if (!entry) return undefined;
      const verifiedAt = Math.max(entry.readAt, changes.syncedUntil());
      return localClock.now() - verifiedAt < timings.maxStaleMs ? entry.snapshot : undefined;
    },
    beginRead(id) {
      const read = { id, startedAt: localClock.now(), isInvalidated: false };
      pendingReads.add(read);
      return read;
    },
    endRead(read, snapshot) {
      pendingReads.delete(read);
      if (!snapshot || read.isInvalidated) return;
      const previous = findValid(read.id);
      if (previous && previous.readAt > read.startedAt) return;
      const tokens = snapshot.tokens && { ...snapshot.tokens, refreshToken: undefined };
      entries.set(credentialId(snapshot.key), {
        snapshot: { ...snapshot, tokens },
        readAt: read.startedAt,
        wipeEpoch,
      });
    },
    invalidate({ topic, id }) {
      const affectsAll = DEFINITION_TOPICS.has(topic) || (topic === 'credentials' && id === '*');
      if (!affectsAll && topic !== 'credentials') return;
      for (const read of pendingReads) if (affectsAll || read.id === id) read.isInvalidated = true;
      if (affectsAll) wipeEpoch += 1;
      else entries.delete(id);
    },
    clear: () => entries.clear(),
  };
}

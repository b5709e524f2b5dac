import { credentialId, type CredentialKey, type CredentialRecord } from '../../ports/index.ts';
import type { PendingRead, CredentialCache } from './credentialCache.ts';
import type { StoreTime } from './storeTime.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';
import { createLoadSnapshot, type CredentialSnapshot } from './credentialSnapshot.ts';

/** Where credentials are read. All of it rejects when the store does not answer. */
export interface CredentialReader {
  /** A moment old at most, and read once for all who ask together. */
  readRecent(key: CredentialKey): Promise<CredentialSnapshot>;
  /** As the store has it now, with the refresh token. */
  readFresh(key: CredentialKey): Promise<CredentialSnapshot>;
  /** What we have just written is known without reading it. */
  updateCache(snapshot: CredentialSnapshot): void;
}

export interface CredentialReaderParts extends Pick<
  ResolvedVaultParts,
  'store' | 'keyring' | 'contexts' | 'dpop'
> {
  readonly credentialCache: CredentialCache;
  readonly storeTime: StoreTime;
  /** With what this process could not store yet. */
  readonly applyPending: (record: CredentialRecord) => CredentialRecord;
}

export function createCredentialReader({
  store,
  credentialCache,
  storeTime,
  applyPending,
  ...parts
}: CredentialReaderParts): CredentialReader {
  const loadSnapshot = createLoadSnapshot(parts);
  const loads = new Map<
    string,
    { readonly read: PendingRead; readonly snapshot: Promise<CredentialSnapshot> }
  >();

  async function completeRead(
    key: CredentialKey,
    read: PendingRead,
    recordPromise: Promise<CredentialRecord | null>,
  ): Promise<CredentialSnapshot> {
    let snapshot: CredentialSnapshot | undefined;
    try {
      const record = await recordPromise;
      snapshot = await loadSnapshot(key, record && applyPending(record));
      return snapshot;
    } finally {
      credentialCache.endRead(read, snapshot);
    }
  }

  async function findRecord(key: CredentialKey): Promise<CredentialRecord | null> {
    const [record] = await Promise.all([store.find(key), storeTime.sample()]);
    return record;
  }

  return {
    async readRecent(key) {
      const id = credentialId(key);
      const cached = credentialCache.getFresh(id);
      if (cached) return cached;
      const pendingLoad = loads.get(id);
      if (pendingLoad && !pendingLoad.read.isInvalidated) return pendingLoad.snapshot;
      const read = credentialCache.beginRead(id);
      const load = { read, snapshot: completeRead(key, read, findRecord(key)) };
      loads.set(id, load);
      const removeLoad = () => {
        if (loads.get(id) === load) loads.delete(id);
      };
      load.snapshot.then(removeLoad, removeLoad);
      return load.snapshot;
    },
    readFresh: (key) => completeRead(key, credentialCache.beginRead(credentialId(key)), findRecord(key)),
    updateCache: (snapshot) =>
      credentialCache.endRead(credentialCache.beginRead(credentialId(snapshot.key)), snapshot),
  };
}

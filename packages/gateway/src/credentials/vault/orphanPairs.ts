import { SealError, type Keyring, type SealContext } from '@behalf/kernel';
import { credentialContext, type CredentialRecord, type OrphanStore } from '../../ports/index.ts';
import type { Received } from './pair.ts';

/** A pair that was received and is not stored yet. */
export interface OrphanPair {
  /** Of the refresh token that was consumed for it. */
  readonly consumed: string | null;
  readonly received: Received;
}

export interface FoundPair extends OrphanPair {
  /** As it lies there. */
  readonly sealed: string;
}

/** Beside the store that failed, sealed as the record is. */
export interface OrphanPairs {
  /** As it lies there. */
  put(record: CredentialRecord, received: Received): Promise<string>;
  /** Only one that followed this very refresh token. */
  find(record: CredentialRecord): Promise<FoundPair | undefined>;
  /** This very one: another may lie there by now. */
  remove(id: string, sealed: string): Promise<void>;
}

export function createOrphanPairs({
  orphans,
  keyring,
}: {
  readonly orphans: OrphanStore;
  readonly keyring: Keyring;
}): OrphanPairs {
  return {
    async put(record, received) {
      const pair: OrphanPair = { consumed: record.rtHash, received };
      const sealed = keyring.seal(JSON.stringify(pair), contextOf(record));
      await orphans.put(record.id, sealed);
      return sealed;
    },
    async find(record) {
      const sealed = await orphans.find(record.id);
      if (sealed === null) return undefined;
      try {
        const pair = JSON.parse(keyring.open(sealed, contextOf(record))) as OrphanPair;
        return pair.consumed === record.rtHash ? { ...pair, sealed } : undefined;
      } catch (error) {
        // Of another generation, or not ours to open: it says nothing about this grant.
        if (error instanceof SealError) return undefined;
        throw error;
      }
    },
    remove: (id, sealed) => orphans.remove(id, sealed),
  };
}

/** As the record's own, but for the count of pairs: it may have moved while the refresh token stayed. */
function contextOf(record: CredentialRecord): SealContext {
  return { ...credentialContext({ ...record, tokenSeq: 0 }), field: 'orphan' };
}

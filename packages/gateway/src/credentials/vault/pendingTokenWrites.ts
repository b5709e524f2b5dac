import { SealError, type Keyring, type SealContext } from '@behalf/kernel';
import { toCredentialSealContext, type CredentialRecord, type PendingWriteStore } from '../../ports/index.ts';
import type { ReceivedTokens } from './tokenPair.ts';

/** A pair that was received and is not stored yet. */
export interface PendingTokens {
  /** Of the refresh token that was consumed for it. */
  readonly consumedHash: string | null;
  readonly received: ReceivedTokens;
}

export interface FoundPendingTokens extends PendingTokens {
  /** As it lies there. */
  readonly sealed: string;
}

/** Beside the store that failed, sealed as the record is. */
export interface PendingTokenWrites {
  /** As it lies there. */
  put(record: CredentialRecord, received: ReceivedTokens): Promise<string>;
  /** Only one that followed this very refresh token. */
  find(record: CredentialRecord): Promise<FoundPendingTokens | undefined>;
  /** This very one: another may lie there by now. */
  remove(id: string, sealed: string): Promise<void>;
}

export function createPendingTokenWrites({
  pendingWrites,
  keyring,
}: {
  readonly pendingWrites: PendingWriteStore;
  readonly keyring: Keyring;
}): PendingTokenWrites {
  return {
    async put(record, received) {
      const pendingTokens: PendingTokens = { consumedHash: record.rtHash, received };
      const sealed = keyring.seal(JSON.stringify(pendingTokens), toSealContext(record));
      await pendingWrites.put(record.id, sealed);
      return sealed;
    },
    async find(record) {
      const sealed = await pendingWrites.find(record.id);
      if (sealed === null) return undefined;
      try {
        const pendingTokens = JSON.parse(keyring.open(sealed, toSealContext(record))) as PendingTokens;
        return pendingTokens.consumedHash === record.rtHash ? { ...pendingTokens, sealed } : undefined;
      } catch (error) {
        // Of another generation, or not ours to open: it says nothing about this grant.
        if (error instanceof SealError) return undefined;
        throw error;
      }
    },
    remove: (id, sealed) => pendingWrites.remove(id, sealed),
  };
}

/** As the record's own, but for the count of pairs: it may have moved while the refresh token stayed. */
function toSealContext(record: CredentialRecord): SealContext {
  return { ...toCredentialSealContext({ ...record, tokenSeq: 0 }), field: 'orphan' };
}

import { sleep } from '@behalf/kernel';
import type { CredentialRecord } from '../../ports/index.ts';
import type { GrantContext } from '../oauth/grantContext.ts';
import type { RevocationQueue } from './revocationQueue.ts';
import type { ChangeBus } from './changeBus.ts';
import type { DecryptedTokens } from './sealedTokens.ts';
import type { PendingTokenWrites } from './pendingTokenWrites.ts';
import { buildNextPair, mergeTokens, type ReceivedTokens } from './tokenPair.ts';
import { casTokens, type CasResult } from './casTokens.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';

/** `aside`: nobody could store it yet. It is good all the same: refusing it would bring the old one back to life for nobody. */
export type PersistResult =
  | CasResult
  | { readonly kind: 'pending'; readonly record: CredentialRecord; readonly tokens: DecryptedTokens };

/** A pair that came, and the one whose refresh token it cost. */
export interface PersistRequest {
  /** As it was when that was claimed. */
  readonly consumedRecord: CredentialRecord;
  readonly previousTokens: DecryptedTokens;
  readonly context: GrantContext | undefined;
  readonly received: ReceivedTokens;
}

export interface TokenPersister {
  /**
   * Stores it, as long as it takes within the budget, and goes on trying after that. From the first failure on it lies aside,
   * where another process finds it: this one may end at any moment, and its claim may end before the store is well.
   */
  persist(request: PersistRequest, owner: string): Promise<PersistResult>;
  /** What this process received for this very refresh token and could not store yet. */
  findPending(record: CredentialRecord): ReceivedTokens | undefined;
  /** The record as it would be if what this process holds for it were stored. */
  applyPending(record: CredentialRecord): CredentialRecord;
  /** Tries to store what this process holds. False: it holds nothing. Rejects when the store does not answer. */
  flush(id: string): Promise<boolean>;
  /** What is not stored yet is not tried again after this. */
  close(): void;
}

export interface TokenPersisterParts extends Pick<
  ResolvedVaultParts,
  'store' | 'keyring' | 'localClock' | 'log' | 'record' | 'timings'
> {
  readonly pendingTokenWrites: PendingTokenWrites;
  readonly revocationQueue: RevocationQueue;
  readonly changeBus: ChangeBus;
  /** When the vault began to close; Infinity: it did not. */
  readonly closingSince: () => number;
}

const MIN_RETRY_MS = 50;
const MAX_RETRY_MS = 2_000;

interface PendingWrite extends PersistRequest {
  /** Under way, or done. */
  storing?: Promise<void> | undefined;
  /** What lies aside. */
  sealed?: string;
  isSettled: boolean;
}

export function createTokenPersister(parts: TokenPersisterParts): TokenPersister {
  const { store, keyring, localClock, log, record: recordEvent, timings } = parts;
  const { pendingTokenWrites, revocationQueue, changeBus, closingSince } = parts;
  /** By credential, the last one. */
  const pendingWrites = new Map<string, PendingWrite>();
  const closed = new AbortController();

  function retryDeadline(startedAt: number): number {
    return Math.min(startedAt + timings.holdMs, closingSince() + timings.closeTimeoutMs / 2);
  }

  /** Stored, or nobody's any more: then it lies aside no longer. */
  async function writeTokens(pendingWrite: PendingWrite): Promise<CasResult> {
    const { consumedRecord, previousTokens, context, received } = pendingWrite;
    const result = await casTokens(parts, consumedRecord, previousTokens, received);
    if (pendingWrite.isSettled) return result;
    pendingWrite.isSettled = true;
    if (pendingWrites.get(consumedRecord.id) === pendingWrite) pendingWrites.delete(consumedRecord.id);
    if (result.kind === 'superseded')
      revocationQueue.revokeSuperseded(
        result.by,
        consumedRecord,
        context,
        mergeTokens(previousTokens, received.tokens),
      );
    await pendingWrite.storing;
    if (pendingWrite.sealed !== undefined)
      await pendingTokenWrites.remove(consumedRecord.id, pendingWrite.sealed).catch(() => undefined);
    return result;
  }

  function storePendingOnce(pendingWrite: PendingWrite): Promise<void> {
    if (pendingWrite.isSettled) return Promise.resolve();
    pendingWrites.set(pendingWrite.consumedRecord.id, pendingWrite);
    return (pendingWrite.storing ??= storePending(pendingWrite));
  }

  async function storePending(pendingWrite: PendingWrite): Promise<void> {
    try {
      pendingWrite.sealed = await pendingTokenWrites.put(pendingWrite.consumedRecord, pendingWrite.received);
    } catch {
      // In memory all the same; it is put there again with the next failure.
      pendingWrite.storing = undefined;
    }
  }

  async function writeOrStorePending(pendingWrite: PendingWrite): Promise<CasResult> {
    // A store that hangs is no better than one that fails.
    const cancel = localClock.timer(timings.storeTimeoutMs, () => void storePendingOnce(pendingWrite));
    try {
      return await writeTokens(pendingWrite);
    } catch (error) {
      await storePendingOnce(pendingWrite);
      throw error;
    } finally {
      cancel();
    }
  }

  async function retryUntilStored(pendingWrite: PendingWrite): Promise<void> {
    let retryMs = timings.backoffMs;
    while (!pendingWrite.isSettled) {
      try {
        await sleep(localClock, retryMs, closed.signal);
        await writeOrStorePending(pendingWrite);
        await changeBus.publish(pendingWrite.consumedRecord.id);
      } catch {
        if (closed.signal.aborted) return;
        retryMs = Math.min(2 * retryMs, timings.maxBackoffMs);
      }
    }
  }

  function findPendingWrite({ id, generation, rtHash, atHash }: CredentialRecord): PendingWrite | undefined {
    const pendingWrite = pendingWrites.get(id);
    const { consumedRecord } = pendingWrite ?? {};
    // In the place of the very pair that it follows, and of no other.
    const isSuccessor =
      consumedRecord?.generation === generation &&
      consumedRecord.rtHash === rtHash &&
      consumedRecord.atHash === atHash;
    return isSuccessor ? pendingWrite : undefined;
  }

  function reportFailure({ consumedRecord, sealed }: PendingWrite): void {
    const { tenant, principal, serverId, kind, label } = consumedRecord;
    recordEvent({ kind: 'persist_failed', credential: { tenant, principal, serverId, kind, label } });
    log('vault_persist_failed', { server: serverId, isRecoverable: sealed !== undefined });
  }

  return {
    async persist(request, owner) {
      const pendingWrite: PendingWrite = { ...request, isSettled: false };
      const { consumedRecord, previousTokens, received } = request;
      const startedAt = localClock.now();
      for (let retryMs = MIN_RETRY_MS; ; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
        try {
          return await writeOrStorePending(pendingWrite);
        } catch (error) {
          log('vault_persist_delayed', {
            server: consumedRecord.serverId,
            reason: error instanceof Error ? error.name : 'unknown',
          });
        }
        if (localClock.now() + retryMs >= retryDeadline(startedAt)) break;
        await sleep(localClock, retryMs);
        // Nobody has to doubt what we are about to store.
        store
          .extendClaim(consumedRecord.id, consumedRecord.claimSeq, owner, timings.claimMs)
          .catch(() => undefined);
      }
      reportFailure(pendingWrite);
      void retryUntilStored(pendingWrite);
      const { tokens, patch } = buildNextPair(keyring, consumedRecord, previousTokens, received);
      return { kind: 'pending', record: { ...consumedRecord, ...patch }, tokens };
    },
    findPending: (record) => findPendingWrite(record)?.received,
    applyPending(record) {
      const pendingWrite = findPendingWrite(record);
      if (!pendingWrite) return record;
      return {
        ...record,
        ...buildNextPair(keyring, record, pendingWrite.previousTokens, pendingWrite.received).patch,
      };
    },
    async flush(id) {
      const pendingWrite = pendingWrites.get(id);
      if (!pendingWrite) return false;
      await writeTokens(pendingWrite);
      await changeBus.publish(id);
      return true;
    },
    close: () => closed.abort(),
  };
}

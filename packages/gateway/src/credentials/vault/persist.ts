import { type SealContext, SealError, sleep } from '@behalf/kernel';
import { type CredentialRecord, credentialKey, toCredentialSealContext } from '../../ports/index.ts';
import type { GrantContext } from '../oauth/grantContext.ts';
import type { RefreshTokenClaim } from './claim.ts';
import type { ChangeBus } from './read.ts';
import type { RevocationQueue } from './revoke.ts';
import { type DecryptedTokens, type ReceivedTokens, buildNextPair, mergeTokens } from './tokenPair.ts';
import { type VaultCore, errorName } from './vault.ts';

/**
 * `pending`: the store does not accept the tokens yet. They are used all the same, because the refresh token that
 * they replace is consumed.
 */
export type PersistResult =
  | CasResult
  | { readonly kind: 'pending'; readonly record: CredentialRecord; readonly tokens: DecryptedTokens };

interface PendingWrite {
  /** The record with the claim under which the refresh token was sent. */
  readonly consumedRecord: CredentialRecord;
  readonly previousTokens: DecryptedTokens;
  readonly context: GrantContext | undefined;
  readonly received: ReceivedTokens;
  /** Set while the tokens are written to `pendingWrites`, and afterwards. */
  storing?: Promise<void> | undefined;
  /** The text in `pendingWrites`. */
  sealed?: string;
  /** Stored or superseded. */
  isSettled: boolean;
}

const MIN_RETRY_MS = 50;
const MAX_RETRY_MS = 2_000;

export type TokenPersister = ReturnType<typeof createTokenPersister>;

/** Stores refreshed tokens, also across an outage of the store. */
export function createTokenPersister(
  core: VaultCore,
  pendingTokenWrites: PendingTokenWrites,
  revocationQueue: RevocationQueue,
  changeBus: ChangeBus,
) {
  const { store, keyring, localClock, log, recordEvent, timings } = core;
  /** The last unsaved tokens per credential. */
  const pendingWrites = new Map<string, PendingWrite>();
  const closed = new AbortController();

  async function writeTokens(pendingWrite: PendingWrite): Promise<CasResult> {
    const { consumedRecord, previousTokens, context, received } = pendingWrite;
    const result = await casTokens(core, consumedRecord, previousTokens, received);
    if (pendingWrite.isSettled) return result;
    pendingWrite.isSettled = true;
    if (pendingWrites.get(consumedRecord.id) === pendingWrite) pendingWrites.delete(consumedRecord.id);
    if (result.kind === 'superseded') {
      const tokens = mergeTokens(previousTokens, received.tokens);
      revocationQueue.revokeSuperseded(result.by, { record: consumedRecord, context, tokens });
    }
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
      // The tokens stay in memory. The next failed write tries again.
      pendingWrite.storing = undefined;
    }
  }

  async function writeOrStorePending(pendingWrite: PendingWrite): Promise<CasResult> {
    // A store that does not answer in time is treated like one that fails.
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

  /** The unsaved successor of exactly these tokens. */
  function findPendingWrite({ id, generation, rtHash, atHash }: CredentialRecord): PendingWrite | undefined {
    const pendingWrite = pendingWrites.get(id);
    const { consumedRecord } = pendingWrite ?? {};
    const isSuccessor =
      consumedRecord?.generation === generation &&
      consumedRecord.rtHash === rtHash &&
      consumedRecord.atHash === atHash;
    return isSuccessor ? pendingWrite : undefined;
  }

  return {
    /**
     * Tries to store the tokens for `holdMs`, then continues in the background. From the first failure on a sealed
     * copy is in `pendingWrites`, where another replica finds it if this process dies.
     */
    async persist(
      { record: consumedRecord, owner }: RefreshTokenClaim,
      previousTokens: DecryptedTokens,
      context: GrantContext | undefined,
      received: ReceivedTokens,
    ): Promise<PersistResult> {
      const pendingWrite: PendingWrite = {
        ...{ consumedRecord, previousTokens, context, received },
        isSettled: false,
      };
      const { id, claimSeq, serverId } = consumedRecord;
      const startedAt = localClock.now();
      for (let retryMs = MIN_RETRY_MS; ; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
        try {
          return await writeOrStorePending(pendingWrite);
        } catch (error) {
          log('vault_persist_delayed', { server: serverId, reason: errorName(error) });
        }
        const deadline = Math.min(
          startedAt + timings.holdMs,
          core.closingSince() + timings.closeTimeoutMs / 2,
        );
        if (localClock.now() + retryMs >= deadline) break;
        await sleep(localClock, retryMs);
        // While the claim lasts, no other replica marks the refresh token as in doubt.
        store.extendClaim(id, claimSeq, owner, timings.claimMs).catch(() => undefined);
      }
      recordEvent({ kind: 'persist_failed', credential: credentialKey(consumedRecord) });
      log('vault_persist_failed', { server: serverId, isRecoverable: pendingWrite.sealed !== undefined });
      void retryUntilStored(pendingWrite);
      const { tokens, patch } = buildNextPair(keyring, consumedRecord, previousTokens, received);
      return { kind: 'pending', record: { ...consumedRecord, ...patch }, tokens };
    },
    /** The tokens that this process received for exactly this refresh token and could not store yet. */
    findPending: (record: CredentialRecord): ReceivedTokens | undefined => findPendingWrite(record)?.received,
    /** The record with the unsaved tokens of this process applied. */
    applyPending(record: CredentialRecord): CredentialRecord {
      const pendingWrite = findPendingWrite(record);
      if (!pendingWrite) return record;
      const { previousTokens, received } = pendingWrite;
      return { ...record, ...buildNextPair(keyring, record, previousTokens, received).patch };
    },
    /** Stores the unsaved tokens of this process. False if there are none. Rejects if the store fails. */
    async flush(id: string): Promise<boolean> {
      const pendingWrite = pendingWrites.get(id);
      if (!pendingWrite) return false;
      await writeTokens(pendingWrite);
      await changeBus.publish(id);
      return true;
    },
    /** Ends the retries. The sealed copy remains in `pendingWrites`. */
    close: () => closed.abort(),
  };
}

type CasResult =
  | { readonly kind: 'saved'; readonly record: CredentialRecord; readonly tokens: DecryptedTokens }
  /** Another refresh of the same grant stored its tokens. */
  | { readonly kind: 'rotated' }
  /** A sign-in, sign-out or removal (null) replaced the grant. */
  | { readonly kind: 'superseded'; readonly by: CredentialRecord | null };

/**
 * Replaces exactly the tokens whose refresh token was consumed. The condition does not contain the claim: the
 * holder of the successor may store it even if its claim expired. Rejects if the store fails.
 */
export async function casTokens(
  { store, keyring }: Pick<VaultCore, 'store' | 'keyring'>,
  consumedRecord: CredentialRecord,
  previousTokens: DecryptedTokens,
  received: ReceivedTokens,
): Promise<CasResult> {
  const { id, generation, rtHash } = consumedRecord;
  let current = consumedRecord;
  for (;;) {
    const { tokens, patch } = buildNextPair(keyring, current, previousTokens, received);
    const expected = { generation, rtHash, tokenSeq: current.tokenSeq };
    const record = await store.replace(id, expected, patch);
    if (record) return { kind: 'saved', record, tokens };
    const stored = await store.findById(id);
    if (stored?.generation !== generation) return { kind: 'superseded', by: stored };
    // An earlier write succeeded and its answer was lost.
    if (stored.atHash === patch.atHash && stored.rtHash === patch.rtHash)
      return { kind: 'saved', record: stored, tokens };
    // Without refresh tokens any newer tokens win. With one, only a different refresh token does.
    if (stored.rtHash !== rtHash || rtHash === null) return { kind: 'rotated' };
    current = stored;
  }
}

interface PendingTokens {
  /** The hash of the refresh token that was consumed for these tokens. */
  readonly consumedHash: string | null;
  readonly received: ReceivedTokens;
}

export type PendingTokenWrites = ReturnType<typeof createPendingTokenWrites>;

/** Sealed copies of unsaved tokens, outside of the store that failed. */
export function createPendingTokenWrites({ pendingWrites, keyring }: VaultCore) {
  return {
    /** Returns the sealed text. */
    async put(record: CredentialRecord, received: ReceivedTokens): Promise<string> {
      const pendingTokens: PendingTokens = { consumedHash: record.rtHash, received };
      const sealed = keyring.seal(JSON.stringify(pendingTokens), toSealContext(record));
      await pendingWrites.put(record.id, sealed);
      return sealed;
    },
    /** Only tokens that were received for exactly this refresh token. */
    async find(record: CredentialRecord): Promise<(PendingTokens & { readonly sealed: string }) | undefined> {
      const sealed = await pendingWrites.find(record.id);
      if (sealed === null) return undefined;
      try {
        const pendingTokens = JSON.parse(keyring.open(sealed, toSealContext(record))) as PendingTokens;
        return pendingTokens.consumedHash === record.rtHash ? { ...pendingTokens, sealed } : undefined;
      } catch (error) {
        // Sealed for another generation or with an unknown key: it does not concern this grant.
        if (error instanceof SealError) return undefined;
        throw error;
      }
    },
    /** Only if the stored text is still `sealed`. */
    remove: (id: string, sealed: string): Promise<void> => pendingWrites.remove(id, sealed),
  };
}

/** Without the sequence number: it may change while the refresh token stays the same. */
function toSealContext(record: CredentialRecord): SealContext {
  return { ...toCredentialSealContext({ ...record, tokenSeq: 0 }), field: 'orphan' };
}

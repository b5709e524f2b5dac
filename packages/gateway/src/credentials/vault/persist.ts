import { HiddenText, type Keyring, type SealContext, SealError, sleep } from '@behalf/kernel';
import {
  type CredentialPatch,
  type CredentialRecord,
  type PendingWriteStore,
  credentialId,
  toCredentialSealContext,
} from '../../ports/index.ts';
import type { GrantContext } from '../oauth/grantContext.ts';
import type { ChangeBus } from './read.ts';
import type { RefreshBackoff } from './refreshErrors.ts';
import type { RevocationQueue } from './revoke.ts';
import {
  type DecryptedTokens,
  type ReceivedTokens,
  buildNextPair,
  clearedClaim,
  createHashKey,
  mergeTokens,
  normalizeScopes,
  openTokens,
  sealTokens,
  toLifetime,
} from './tokenPair.ts';
import type { CommitOutcome, GrantCommit, ResolvedVaultParts } from './vault.ts';

/** Stores a grant that was just given. Rejects when the store does not answer for long. */
export type Commit = (grant: GrantCommit) => Promise<CommitOutcome>;

interface CommitParts extends Pick<
  ResolvedVaultParts,
  'store' | 'keyring' | 'clock' | 'localClock' | 'random' | 'contexts' | 'timings'
> {
  readonly revocationQueue: RevocationQueue;
  readonly changeBus: ChangeBus;
  readonly backoff: RefreshBackoff;
  readonly onCommitted: (record: CredentialRecord) => void;
}

const MIN_COMMIT_RETRY_MS = 50;

export function createCommit(parts: CommitParts): Commit {
  const { store, keyring, clock, localClock, random, contexts, timings } = parts;
  const { revocationQueue, changeBus, backoff, onCommitted } = parts;

  /** All but what names it, and what counts over all generations. */
  function buildContent(grant: GrantCommit) {
    const { binding, tokens, endpoints } = grant;
    // Told by this process's clock, kept by the store's.
    const sentAt = grant.sentAt - localClock.now() + clock.now();
    const { accessToken, tokenType, idToken } = tokens;
    const refreshToken = tokens.refreshToken === undefined ? undefined : new HiddenText(tokens.refreshToken);
    const hashKey = createHashKey(random);
    const versionFields = { ...binding, generation: grant.baseGeneration + 1, tokenSeq: 1 };
    const dpopKey = tokenType === 'dpop' ? grant.dpopKey : undefined;
    const decrypted = { accessToken, tokenType, refreshToken, idToken, endpoints, hashKey, dpopKey };
    return {
      ...versionFields,
      ...sealTokens(keyring, { ...grant, ...versionFields }, decrypted),
      ...toLifetime(tokens, sentAt),
      status: 'active',
      reason: null,
      statusAt: clock.now(),
      rtSuspect: false,
      scopesRequested: normalizeScopes(grant.scopesRequested),
      // An answer that does not say grants what was asked for (RFC 6749, section 5.1).
      scopesGranted: normalizeScopes(tokens.scope ?? grant.scopesRequested),
      expiresAt: grant.rowExpiresAt ?? null,
      ...clearedClaim,
    } as const;
  }

  function buildRecord(grant: GrantCommit, content: ReturnType<typeof buildContent>): CredentialRecord {
    const { tenant, principal, serverId, kind, label } = grant;
    const key = { tenant, principal, serverId, kind, label };
    const now = clock.now();
    const counters = { isDefault: false, version: 1, claimSeq: 0, createdAt: now, updatedAt: now };
    return { ...key, id: credentialId(key), ...content, ...counters };
  }

  /** Also when an earlier step stored it, whose answer was lost. */
  async function storeRecord(
    record: CredentialRecord,
    baseGeneration: number,
    patch: CredentialPatch,
  ): Promise<CommitOutcome> {
    const { id, generation } = record;
    const isStored =
      baseGeneration === 0
        ? await store.insert(record)
        : (await store.replace(id, { generation: baseGeneration }, patch)) !== null;
    if (isStored) return { kind: 'committed', id, generation };
    const current = await store.findById(id);
    const isOwnWrite = current?.generation === generation && current.atHash === record.atHash;
    return isOwnWrite
      ? { kind: 'committed', id, generation }
      : { kind: 'superseded', generation: current?.generation ?? 0 };
  }

  /** What it takes the place of, or what it was itself when another was faster. */
  async function queueRevocation(record: CredentialRecord): Promise<void> {
    const tokens = openTokens(keyring, record);
    if (!tokens) return;
    const context = await contexts.resolve(record);
    if (context === 'unbound') return;
    revocationQueue.revokeReplaced(record, context, tokens);
  }

  return async (grant) => {
    const content = buildContent(grant);
    const record = buildRecord(grant, content);
    const previous = grant.baseGeneration === 0 ? null : await store.findById(record.id).catch(() => null);
    const deadline = localClock.now() + timings.postMs;
    let outcome: CommitOutcome;
    for (let retryMs = MIN_COMMIT_RETRY_MS; ; retryMs *= 2) {
      try {
        outcome = await storeRecord(record, grant.baseGeneration, content);
        break;
      } catch (error) {
        // A code is good for one exchange: what it brought is not given up at the first failure.
        if (localClock.now() + retryMs >= deadline) throw error;
        await sleep(localClock, retryMs);
      }
    }
    if (outcome.kind === 'superseded') {
      await queueRevocation(record).catch(() => undefined);
      return outcome;
    }
    backoff.clear(record.id);
    onCommitted(record);
    await changeBus.publish(record.id);
    if (previous?.generation === grant.baseGeneration) await queueRevocation(previous).catch(() => undefined);
    return outcome;
  };
}

/** `aside`: nobody could store it yet. It is good all the same: refusing it would bring the old one back to life for nobody. */
export type PersistResult =
  | CasResult
  | { readonly kind: 'pending'; readonly record: CredentialRecord; readonly tokens: DecryptedTokens };

/** A pair that came, and the one whose refresh token it cost. */
interface PersistRequest {
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

interface TokenPersisterParts extends Pick<
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

type CasResult =
  | { readonly kind: 'saved'; readonly record: CredentialRecord; readonly tokens: DecryptedTokens }
  /** Another refresh of the same grant has stored its pair. */
  | { readonly kind: 'rotated' }
  /** Somebody signed in or out: the grant itself is another, or ended, or gone (null). */
  | { readonly kind: 'superseded'; readonly by: CredentialRecord | null };

/**
 * Stores a pair in the place of the one whose refresh token it consumed, and of no other: whoever holds the successor may
 * store it, however long ago their claim ended; nobody else may. Rejects when the store does not answer.
 */
export async function casTokens(
  { store, keyring }: Pick<ResolvedVaultParts, 'store' | 'keyring'>,
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
    // An answer of the store was lost: what we wrote is there.
    if (stored.atHash === patch.atHash && stored.rtHash === patch.rtHash)
      return { kind: 'saved', record: stored, tokens };
    // Without refresh tokens the newer one stays; with one it is about whose successor this is.
    if (stored.rtHash !== rtHash || rtHash === null) return { kind: 'rotated' };
    current = stored;
  }
}

/** A pair that was received and is not stored yet. */
interface PendingTokens {
  /** Of the refresh token that was consumed for it. */
  readonly consumedHash: string | null;
  readonly received: ReceivedTokens;
}

interface FoundPendingTokens extends PendingTokens {
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

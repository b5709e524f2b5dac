import { HiddenText, sleep } from '@behalf/kernel';
import { credentialId, type CredentialPatch, type CredentialRecord } from '../../ports/index.ts';
import type { RevocationQueue } from './revocationQueue.ts';
import type { ChangeBus } from './changeBus.ts';
import { createHashKey, openTokens, sealTokens } from './sealedTokens.ts';
import { toLifetime, normalizeScopes, clearedClaim } from './tokenPair.ts';
import type { RefreshBackoff } from './refreshBackoff.ts';
import type { CommitOutcome, GrantCommit } from './vault.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';

/** Stores a grant that was just given. Rejects when the store does not answer for long. */
export type Commit = (grant: GrantCommit) => Promise<CommitOutcome>;

export interface CommitParts extends Pick<
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

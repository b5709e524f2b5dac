import { HiddenText, sleep } from '@behalf/kernel';
import {
  type CredentialPatch,
  type CredentialRecord,
  credentialId,
  credentialKey,
} from '../../ports/index.ts';
import type { ChangeBus } from './read.ts';
import type { RefreshBackoff } from './refreshErrors.ts';
import type { RevocationQueue } from './revoke.ts';
import {
  clearedClaim,
  createHashKey,
  normalizeScopes,
  openTokens,
  sealTokens,
  toLifetime,
} from './tokenPair.ts';
import type { CommitOutcome, GrantCommit, VaultCore } from './vault.ts';

export type Commit = (grant: GrantCommit) => Promise<CommitOutcome>;

const MIN_RETRY_MS = 50;

/** Stores a new grant in place of the generation that it follows. Rejects if the store fails for `postMs`. */
export function createCommit(
  core: VaultCore,
  revocationQueue: RevocationQueue,
  changeBus: ChangeBus,
  backoff: RefreshBackoff,
  onCommitted: (record: CredentialRecord) => void,
): Commit {
  const { store, keyring, clock, localClock, random, contexts, timings } = core;

  /** The fields that a later grant of the same credential replaces. */
  function buildContent(grant: GrantCommit) {
    const { binding, tokens, endpoints } = grant;
    // `sentAt` is local time; the record holds store time.
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
      // A response without `scope` grants what was requested (RFC 6749, section 5.1).
      scopesGranted: normalizeScopes(tokens.scope ?? grant.scopesRequested),
      expiresAt: grant.rowExpiresAt ?? null,
      ...clearedClaim,
    } as const;
  }

  /** Also succeeds if an earlier attempt stored the record and its answer was lost. */
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

  /** Revokes discarded tokens, as far as the issuer's profile allows it. */
  async function queueRevocation(record: CredentialRecord): Promise<void> {
    const tokens = openTokens(keyring, record);
    if (!tokens) return;
    const context = await contexts.resolve(record);
    if (context !== 'unbound') revocationQueue.revokeReplaced({ record, context, tokens });
  }

  return async (grant) => {
    const content = buildContent(grant);
    const { baseGeneration } = grant;
    const id = credentialId(grant);
    const now = clock.now();
    const counters = { isDefault: false, version: 1, claimSeq: 0, createdAt: now, updatedAt: now };
    const record: CredentialRecord = { ...credentialKey(grant), id, ...content, ...counters };
    const previous = baseGeneration === 0 ? null : await store.findById(id).catch(() => null);
    const deadline = localClock.now() + timings.postMs;
    let outcome: CommitOutcome;
    for (let retryMs = MIN_RETRY_MS; ; retryMs *= 2) {
      try {
        outcome = await storeRecord(record, baseGeneration, content);
        break;
      } catch (error) {
        // An authorization code works once: its tokens cannot be requested again.
        if (localClock.now() + retryMs >= deadline) throw error;
        await sleep(localClock, retryMs);
      }
    }
    if (outcome.kind === 'superseded') {
      await queueRevocation(record).catch(() => undefined);
      return outcome;
    }
    backoff.clear(id);
    onCommitted(record);
    await changeBus.publish(id);
    if (previous?.generation === baseGeneration) await queueRevocation(previous).catch(() => undefined);
    return outcome;
  };
}

import type { CredentialPatch, CredentialRecord } from '../../ports/index.ts';
import { IN_DOUBT, clearedClaim } from './tokenPair.ts';
import type { VaultCore } from './vault.ts';

/** The exclusive right to send one refresh token, until the claim is released or its deadline passes. */
export interface RefreshTokenClaim {
  /** The record with the claim. */
  readonly record: CredentialRecord;
  readonly owner: string;
  /** Local time. */
  readonly claimedAt: number;
  /** An earlier claim expired without being settled. */
  readonly tookOver: boolean;
  /** The refresh token may have been consumed by an earlier request. */
  readonly isInDoubt: boolean;
  readonly inDoubtSince: number;
}

/**
 * Null if another replica holds the claim or stored other tokens since `record` was read at `readAt`. The store
 * compares the deadline of an earlier claim with its own clock.
 */
export async function claimRefreshToken(
  { store, localClock, timings }: Pick<VaultCore, 'store' | 'localClock' | 'timings'>,
  record: CredentialRecord,
  rtHash: string,
  owner: string,
  readAt: number,
): Promise<RefreshTokenClaim | null> {
  const { id, generation, tokenSeq } = record;
  const claimedAt = localClock.now();
  const claimed = await store.claim(id, { generation, rtHash, tokenSeq, owner, ttlMs: timings.claimMs });
  if (!claimed) return null;
  const { tookOver } = claimed;
  // From the claimed record: another replica may have marked it in doubt since it was read.
  const { rtSuspect, statusAt } = claimed.record;
  return {
    ...{ record: claimed.record, owner, claimedAt, tookOver },
    isInDoubt: tookOver || rtSuspect,
    inDoubtSince: rtSuspect ? statusAt : (record.claimStartedAt ?? readAt),
  };
}

/**
 * Applies `patch` and settles the claim. Null if the claim is no longer ours: a late response must not change what
 * another replica stored. Rejects if the store fails; the claim then expires at its deadline.
 */
export function releaseClaim(
  { store }: Pick<VaultCore, 'store'>,
  { record }: RefreshTokenClaim,
  patch: CredentialPatch = {},
): Promise<CredentialRecord | null> {
  const { id, generation, rtHash, claimSeq } = record;
  return store.replace(id, { generation, rtHash, claimSeq }, { ...clearedClaim, ...patch });
}

/** Marks the refresh token as possibly consumed. */
export function toDoubtPatch(inDoubtSince: number): CredentialPatch {
  return { rtSuspect: true, reason: IN_DOUBT, statusAt: inDoubtSince };
}

/** Preserves the doubt with which the claim was acquired. */
export function preserveDoubt({ isInDoubt, inDoubtSince }: RefreshTokenClaim): CredentialPatch {
  return isInDoubt ? toDoubtPatch(inDoubtSince) : {};
}

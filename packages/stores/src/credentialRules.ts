import type { ClaimRequest, CredentialCondition, CredentialRecord } from '@behalf/gateway/ports';

/** For the stores that read and write within one transaction. */
export function conditionHolds(held: CredentialRecord, when: CredentialCondition): boolean {
  return (
    held.generation === when.generation &&
    (when.rtHash === undefined || held.rtHash === when.rtHash) &&
    (when.tokenSeq === undefined || held.tokenSeq === when.tokenSeq) &&
    (when.claimSeq === undefined || (held.claimSeq === when.claimSeq && held.claimOwner !== null))
  );
}

/** Whether the right to send the refresh token is free, at this time of the store. */
export function isClaimable(
  held: CredentialRecord,
  { generation, tokenSeq, rtHash }: ClaimRequest,
  now: number,
): boolean {
  return (
    held.generation === generation &&
    held.tokenSeq === tokenSeq &&
    held.rtHash === rtHash &&
    held.status === 'active' &&
    (held.claimOwner === null || (held.claimDeadline ?? 0) <= now)
  );
}

/** The fence grows with every claim, also over settled ones. */
export function claimOf(
  held: CredentialRecord,
  { owner, ttlMs }: ClaimRequest,
  now: number,
): Partial<CredentialRecord> {
  return {
    claimSeq: held.claimSeq + 1,
    claimOwner: owner,
    claimStartedAt: now,
    claimDeadline: now + ttlMs,
  };
}

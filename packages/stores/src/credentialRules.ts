import type { ClaimRequest, CredentialCondition, CredentialRecord } from '@behalf/gateway/ports';

/** For the stores that read and write within one transaction. */
export function matchesCondition(credential: CredentialRecord, condition: CredentialCondition): boolean {
  return (
    credential.generation === condition.generation &&
    (condition.rtHash === undefined || credential.rtHash === condition.rtHash) &&
    (condition.tokenSeq === undefined || credential.tokenSeq === condition.tokenSeq) &&
    (condition.claimSeq === undefined ||
      (credential.claimSeq === condition.claimSeq && credential.claimOwner !== null))
  );
}

/** Whether the right to send the refresh token is free, at this time of the store. */
export function isClaimable(
  credential: CredentialRecord,
  { generation, tokenSeq, rtHash }: ClaimRequest,
  now: number,
): boolean {
  return (
    credential.generation === generation &&
    credential.tokenSeq === tokenSeq &&
    credential.rtHash === rtHash &&
    credential.status === 'active' &&
    (credential.claimOwner === null || (credential.claimDeadline ?? 0) <= now)
  );
}

/** The fence grows with every claim, also over settled ones. */
export function buildClaimFields(
  credential: CredentialRecord,
  { owner, ttlMs }: ClaimRequest,
  now: number,
): Partial<CredentialRecord> {
  return {
    claimSeq: credential.claimSeq + 1,
    claimOwner: owner,
    claimStartedAt: now,
    claimDeadline: now + ttlMs,
  };
}

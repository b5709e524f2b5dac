import {
  type ClaimRequest,
  type ConversationLimits,
  type CredentialCondition,
  type CredentialPatch,
  type CredentialRecord,
  type FlowCondition,
  type FlowInsertResult,
  type FlowLimits,
  type OAuthFlowRecord,
  type OAuthFlowStore,
  type UserChange,
  type UserRecord,
  pendingStatuses,
} from '@behalf/gateway/ports';

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

const mutableCredentialFields = [
  'canonicalUrl',
  'issuer',
  'clientId',
  'resource',
  'status',
  'reason',
  'statusAt',
  'generation',
  'tokenSeq',
  'rtHash',
  'atHash',
  'sealed',
  'rtSuspect',
  'issuedAt',
  'lifetimeMs',
  'tokenExpiresAt',
  'scopesRequested',
  'scopesGranted',
  'endpoints',
  'claimOwner',
  'claimStartedAt',
  'claimDeadline',
  'expiresAt',
] as const satisfies readonly (keyof CredentialPatch)[];

/**
 * What of a credential is written. Whose it is and its counters of claims and writes stay, whatever else the given object
 * carries; a claim that ends leaves no times behind.
 */
export function pickCredentialChanges(patch: CredentialPatch): Partial<CredentialRecord> {
  const changedFields = mutableCredentialFields.filter((field) => patch[field] !== undefined);
  return {
    ...Object.fromEntries(changedFields.map((field) => [field, patch[field]])),
    ...(patch.claimOwner === null ? { claimStartedAt: null, claimDeadline: null } : {}),
  };
}

const mutableUserFields = [
  'email',
  'name',
  'role',
  'roleSource',
  'roleConfirmedAt',
  'disabledAt',
  'signedOutAt',
] as const satisfies readonly (keyof UserChange)[];

/** What of an account is written. Who it is and its password stay, whatever else the given object carries. */
export function pickUserChanges(change: UserChange, changedAt: number): Partial<UserRecord> {
  const changedFields = mutableUserFields.filter((field) => change[field] !== undefined);
  return {
    ...Object.fromEntries(changedFields.map((field) => [field, change[field]])),
    updatedAt: changedAt,
  };
}

/** A sign-in that its user may still finish. */
export function isPending(flow: Pick<OAuthFlowRecord, 'status' | 'expiresAt'>, now: number): boolean {
  return pendingStatuses.includes(flow.status) && flow.expiresAt > now;
}

/** How many are pending, and when the first of them ends by itself. */
export interface PendingCount {
  readonly count: number;
  readonly earliestExpiry: number;
}

/** Why there is no place for one more; null when there is. */
export function checkFlowLimits(
  userCount: PendingCount,
  tenantCount: PendingCount,
  limits: FlowLimits,
): (FlowInsertResult & { kind: 'too_many' }) | null {
  if (userCount.count >= limits.perUser) return { kind: 'too_many', retryAt: userCount.earliestExpiry };
  if (tenantCount.count >= limits.perTenant) return { kind: 'too_many', retryAt: tenantCount.earliestExpiry };
  return null;
}

/** For the stores that read and write within one transaction. */
export function matchesFlowCondition(flow: OAuthFlowRecord, condition: FlowCondition): boolean {
  return (
    condition.status.includes(flow.status) &&
    (condition.stateHash === undefined || flow.stateHash === condition.stateHash) &&
    (condition.browserHash === undefined || flow.browserHash === condition.browserHash) &&
    (condition.userId === undefined || flow.userId === condition.userId) &&
    (condition.now === undefined || flow.expiresAt > condition.now)
  );
}

type FlowPatch = Parameters<OAuthFlowStore['transition']>[2];

const mutableFlowFields = [
  'status',
  'error',
  'stateHash',
  'browserHash',
  'sealed',
  'expiresAt',
] as const satisfies readonly (keyof FlowPatch)[];

/** What of a flow is written: whose it is stays, whatever else the given object carries. */
export function pickFlowChanges(patch: FlowPatch): FlowPatch {
  const changedFields = mutableFlowFields.filter((field) => patch[field] !== undefined);
  return Object.fromEntries(changedFields.map((field) => [field, patch[field]]));
}

/** Why a message cannot be added to the others of its conversation; null when it can. One that is replaced is no other. */
export function checkConversationLimits(
  existing: { readonly messages: number; readonly size: number },
  messageSize: number,
  limits: ConversationLimits,
): 'too_many' | 'too_large' | null {
  if (existing.messages >= limits.maxMessages) return 'too_many';
  return existing.size + messageSize > limits.maxSize ? 'too_large' : null;
}

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

/** For stores that read and write in one transaction. */
export function matchesCondition(credential: CredentialRecord, condition: CredentialCondition): boolean {
  return (
    credential.generation === condition.generation &&
    (condition.rtHash === undefined || credential.rtHash === condition.rtHash) &&
    (condition.tokenSeq === undefined || credential.tokenSeq === condition.tokenSeq) &&
    (condition.claimSeq === undefined ||
      (credential.claimSeq === condition.claimSeq && credential.claimOwner !== null))
  );
}

/** Whether the right to send the refresh token is free at `now`, the clock of the store. */
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

/** The fence increases with every claim, including claims over settled ones. */
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
 * The fields of a credential that a patch may change. Owner and counters stay unchanged even if the given
 * object contains them. A claim that ends clears its times.
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

/**
 * The fields of an account that a change may set. Identity and password stay unchanged even if the given object
 * contains them.
 */
export function pickUserChanges(change: UserChange, changedAt: number): Partial<UserRecord> {
  const changedFields = mutableUserFields.filter((field) => change[field] !== undefined);
  return {
    ...Object.fromEntries(changedFields.map((field) => [field, change[field]])),
    updatedAt: changedAt,
  };
}

/** A sign-in that the user can still complete. */
export function isPending(flow: Pick<OAuthFlowRecord, 'status' | 'expiresAt'>, now: number): boolean {
  return pendingStatuses.includes(flow.status) && flow.expiresAt > now;
}

/** Number of pending flows, and when the first of them expires. */
export interface PendingCount {
  readonly count: number;
  readonly earliestExpiry: number;
}

/** The limit that a new flow would exceed, or null. */
export function checkFlowLimits(
  userCount: PendingCount,
  tenantCount: PendingCount,
  limits: FlowLimits,
): (FlowInsertResult & { kind: 'too_many' }) | null {
  if (userCount.count >= limits.perUser) return { kind: 'too_many', retryAt: userCount.earliestExpiry };
  if (tenantCount.count >= limits.perTenant) return { kind: 'too_many', retryAt: tenantCount.earliestExpiry };
  return null;
}

/** For stores that read and write in one transaction. */
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

/**
 * The fields of a flow that a patch may change. The owner stays unchanged even if the given object contains it.
 */
export function pickFlowChanges(patch: FlowPatch): FlowPatch {
  const changedFields = mutableFlowFields.filter((field) => patch[field] !== undefined);
  return Object.fromEntries(changedFields.map((field) => [field, patch[field]]));
}

/** The limit that a message would exceed, or null. A replaced message does not count again. */
export function checkConversationLimits(
  existing: { readonly messages: number; readonly size: number },
  messageSize: number,
  limits: ConversationLimits,
): 'too_many' | 'too_large' | null {
  if (existing.messages >= limits.maxMessages) return 'too_many';
  return existing.size + messageSize > limits.maxSize ? 'too_large' : null;
}

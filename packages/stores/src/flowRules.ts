import {
  pendingStatuses,
  type FlowLimits,
  type FlowCondition,
  type FlowInsertResult,
  type OAuthFlowRecord,
  type OAuthFlowStore,
} from '@behalf/gateway/ports';

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

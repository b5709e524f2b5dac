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
export function lackOfPlace(
  ofUser: PendingCount,
  ofTenant: PendingCount,
  caps: FlowLimits,
): (FlowInsertResult & { kind: 'too_many' }) | null {
  if (ofUser.count >= caps.perUser) return { kind: 'too_many', retryAt: ofUser.earliestExpiry };
  if (ofTenant.count >= caps.perTenant) return { kind: 'too_many', retryAt: ofTenant.earliestExpiry };
  return null;
}

/** For the stores that read and write within one transaction. */
export function flowConditionHolds(flow: OAuthFlowRecord, when: FlowCondition): boolean {
  return (
    when.status.includes(flow.status) &&
    (when.stateHash === undefined || flow.stateHash === when.stateHash) &&
    (when.browserHash === undefined || flow.browserHash === when.browserHash) &&
    (when.userId === undefined || flow.userId === when.userId) &&
    (when.now === undefined || flow.expiresAt > when.now)
  );
}

type FlowPatch = Parameters<OAuthFlowStore['transition']>[2];

const changeable = [
  'status',
  'error',
  'stateHash',
  'browserHash',
  'sealed',
  'expiresAt',
] as const satisfies readonly (keyof FlowPatch)[];

/** What of a flow is written: whose it is stays, whatever else the given object carries. */
export function flowChange(patch: FlowPatch): FlowPatch {
  const given = changeable.filter((field) => patch[field] !== undefined);
  return Object.fromEntries(given.map((field) => [field, patch[field]]));
}

// Shared by the implementations of the ports. The in-memory store of testkit uses the same rules.
export { createChangeListeners } from './changeListeners.ts';
export { openKeyvCache } from './keyvCache.ts';
export { createPendingWriteMap } from './pendingWrites.ts';
export {
  buildClaimFields,
  checkConversationLimits,
  checkFlowLimits,
  isClaimable,
  isPending,
  matchesCondition,
  matchesFlowCondition,
  pickCredentialChanges,
  pickFlowChanges,
  pickUserChanges,
} from './writeRules.ts';

export { aclId, type AclKey, type AclRecord, type AclStore } from './acl.ts';
export type { ApiKeyRecord, ApiKeyStore } from './apiKeys.ts';
export type { AttemptCounter, AttemptWindow } from './attempts.ts';
export type { AuditSegmentQuery, AuditSegmentRecord, AuditStore } from './audit.ts';
export {
  authorizationServerRecordContext,
  authorizationServerRecordKey,
  type AuthorizationServerRecord,
  type AuthorizationServerStore,
} from './authorizationServer.ts';
export { blockContext, type BlockRecord, type BlockStore } from './blocks.ts';
export type { Cache, OpenCache } from './cache.ts';
export {
  changeTopics,
  isCurrent,
  MAX_STALENESS_MS,
  type ChangeFeed,
  type ChangeEvent,
  type ChangeTopic,
} from './changes.ts';
export {
  collectionNames,
  collectionShapes,
  KEY_CHECK,
  keyCheckContext,
  passwordContext,
  type CollectionName,
  type Collections,
  type RawCollections,
  type ResealedValue,
  type SealedField,
} from './collections.ts';
export {
  chatMessageContext,
  conversationContext,
  type ChatMessageInput,
  type ChatMessageRecord,
  type ConversationPosition,
  type ConversationRecord,
  type ConversationLimits,
  type ConversationStore,
} from './conversations.ts';
export {
  credentialContext,
  credentialId,
  credentialKey,
  credentialKinds,
  type CredentialClaim,
  type ClaimRequest,
  type CredentialCondition,
  type CredentialEndpoints,
  type CredentialKey,
  type CredentialKind,
  type CredentialPatch,
  type CredentialRecord,
  type CredentialStatus,
  type CredentialStore,
  type CredentialUsageRecord,
  type CredentialUsageStore,
} from './credentials.ts';
export { draftContext, type DraftRecord, type DraftStore } from './drafts.ts';
export {
  flowContext,
  oauthClientContext,
  oauthClientId,
  pendingStatuses,
  type FlowLimits,
  type FlowCondition,
  type FlowInsertResult,
  type FlowStatus,
  type OAuthClientKey,
  type OAuthClientRecord,
  type OAuthClientStore,
  type OAuthFlowRecord,
  type OAuthFlowStore,
} from './oauthFlows.ts';
export type { PendingWriteStore } from './pendingWrites.ts';
export type { OwnedRecord, OwnedStore } from './owned.ts';
export { overrideContext, overrideId, type OverrideRecord, type OverrideStore } from './overrides.ts';
export { roleId, type RoleRecord, type RoleStore } from './roles.ts';
export { runContext, runTitleContext, type RunMetadata, type RunRecord, type RunStore } from './runs.ts';
export {
  serverContext,
  type ServerStore,
  type StoredServerName,
  type StoredServerRecord,
} from './servers.ts';
export { setContext, type SetRecord, type SetStore } from './sets.ts';
export type { SessionRecord, SessionStore } from './sessions.ts';
export type { CoordinationStore, PrimaryStore } from './store.ts';
export { WRITER_TTL_MS, type SystemStore } from './system.ts';
export type { TicketKind, TicketRecord, TicketStore } from './tickets.ts';
export type { RoleSource, UserChange, UserRecord, UserStore } from './users.ts';
export {
  variableContext,
  variableId,
  type UserVariableRecord,
  type UserVariableStore,
  type VariableKey,
} from './variables.ts';

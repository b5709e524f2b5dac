export { aclId, type AclKey, type AclRecord, type AclStore } from './access.ts';
export type { ApiKeyRecord, ApiKeyStore } from './accounts.ts';
export type { AttemptCounter, AttemptWindow } from './coordination.ts';
export type { AuditSegmentQuery, AuditSegmentRecord, AuditStore } from './audit.ts';
export {
  toAuthorizationServerRecordSealContext,
  authorizationServerRecordKey,
  type AuthorizationServerRecord,
  type AuthorizationServerStore,
} from './authorizationServer.ts';
export { toBlockSealContext, type BlockRecord, type BlockStore } from './blocks.ts';
export type { Cache, OpenCache } from './coordination.ts';
export {
  changeTopics,
  isCurrent,
  MAX_STALENESS_MS,
  type ChangeFeed,
  type ChangeEvent,
  type ChangeTopic,
} from './coordination.ts';
export {
  collectionNames,
  collectionShapes,
  KEY_CHECK,
  keyCheckContext,
  toPasswordSealContext,
  type CollectionName,
  type Collections,
  type RawCollections,
  type ResealedValue,
  type SealedField,
} from './collections.ts';
export {
  toChatMessageSealContext,
  toConversationSealContext,
  type ChatMessageInput,
  type ChatMessageRecord,
  type ConversationPosition,
  type ConversationRecord,
  type ConversationLimits,
  type ConversationStore,
} from './conversations.ts';
export {
  toCredentialSealContext,
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
export { toDraftSealContext, type DraftRecord, type DraftStore } from './servers.ts';
export {
  toFlowSealContext,
  toOAuthClientSealContext,
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
export type { PendingWriteStore } from './coordination.ts';
export type { OwnedRecord, OwnedStore } from './blocks.ts';
export { toOverrideSealContext, overrideId, type OverrideRecord, type OverrideStore } from './servers.ts';
export { roleId, type RoleRecord, type RoleStore } from './access.ts';
export {
  toRunSealContext,
  toRunTitleSealContext,
  type RunMetadata,
  type RunRecord,
  type RunStore,
} from './blocks.ts';
export {
  toServerSealContext,
  type ServerStore,
  type StoredServerName,
  type StoredServerRecord,
} from './servers.ts';
export { toSetSealContext, type SetRecord, type SetStore } from './blocks.ts';
export type { SessionRecord, SessionStore } from './accounts.ts';
export type { CoordinationStore, PrimaryStore } from './store.ts';
export { WRITER_TTL_MS, type SystemStore } from './store.ts';
export type { TicketKind, TicketRecord, TicketStore } from './accounts.ts';
export type { RoleSource, UserChange, UserRecord, UserStore } from './accounts.ts';
export {
  toVariableSealContext,
  variableId,
  type UserVariableRecord,
  type UserVariableStore,
  type VariableKey,
} from './credentials.ts';

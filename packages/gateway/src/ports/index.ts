export { aclId, type AclKey, type AclRecord, type AclStore } from './acl.ts';
export type { ApiKeyRecord, ApiKeyStore } from './apiKeys.ts';
export type { AttemptCounter, AttemptWindow } from './attempts.ts';
export type { AuditPage, AuditSegmentRecord, AuditStore } from './audit.ts';
export type { Cache, OpenCache } from './cache.ts';
export {
  changeTopics,
  isCurrent,
  STALENESS_MS,
  type ChangeFeed,
  type ChangeNotice,
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
  type SealedField,
} from './collections.ts';
export {
  credentialContext,
  credentialId,
  type CredentialKey,
  type CredentialRecord,
  type CredentialStore,
} from './credentials.ts';
export { overrideContext, overrideId, type OverrideRecord, type OverrideStore } from './overrides.ts';
export { roleId, type RoleRecord, type RoleStore } from './roles.ts';
export {
  serverContext,
  type ServerStore,
  type StoredServerName,
  type StoredServerRecord,
} from './servers.ts';
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

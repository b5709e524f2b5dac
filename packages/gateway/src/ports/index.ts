export type { AttemptCounter, AttemptWindow } from './attempts.ts';
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
export { serverContext, type ServerStore, type StoredServerRecord } from './servers.ts';
export type { SessionRecord, SessionStore } from './sessions.ts';
export type { CoordinationStore, PrimaryStore } from './store.ts';
export { WRITER_TTL_MS, type SystemStore } from './system.ts';
export type { TicketKind, TicketRecord, TicketStore } from './tickets.ts';
export type { UserRecord, UserStore } from './users.ts';
export {
  variableContext,
  variableId,
  type UserVariableRecord,
  type UserVariableStore,
  type VariableKey,
} from './variables.ts';

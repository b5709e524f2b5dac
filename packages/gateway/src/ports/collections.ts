import type { SealContext } from '@behalf/kernel';
import type { AclRecord, RoleRecord } from './access.ts';
import type { ApiKeyRecord, SessionRecord, TicketRecord, UserRecord } from './accounts.ts';
import type { AuditSegmentRecord } from './audit.ts';
import {
  type BlockRecord,
  type RunRecord,
  type SetRecord,
  toBlockSealContext,
  toRunSealContext,
  toRunTitleSealContext,
  toSetSealContext,
} from './blocks.ts';
import {
  toChatMessageSealContext,
  toConversationSealContext,
  type ChatMessageRecord,
  type ConversationRecord,
} from './conversations.ts';
import {
  type CredentialRecord,
  type CredentialUsageRecord,
  type UserVariableRecord,
  toCredentialSealContext,
  toVariableSealContext,
} from './credentials.ts';
import {
  type DraftRecord,
  type OverrideRecord,
  type StoredServerRecord,
  toDraftSealContext,
  toOverrideSealContext,
  toServerSealContext,
} from './servers.ts';
import {
  toAuthorizationServerRecordSealContext,
  type AuthorizationServerRecord,
} from './authorizationServer.ts';
import { toOAuthClientSealContext, type OAuthClientRecord } from './oauthFlows.ts';

/** The records that outlive a move from one store to another. Leases, counters and caches do not. */
export interface Collections {
  users: UserRecord;
  sessions: SessionRecord;
  tickets: TicketRecord & { consumedAt: number | null };
  system: { name: string; value: string };
  variables: UserVariableRecord;
  servers: StoredServerRecord;
  overrides: OverrideRecord;
  roles: RoleRecord;
  acl: AclRecord;
  apiKeys: ApiKeyRecord;
  credentials: CredentialRecord;
  credentialUsage: CredentialUsageRecord;
  oauthClients: OAuthClientRecord;
  drafts: DraftRecord;
  conversations: ConversationRecord;
  chatMessages: ChatMessageRecord;
  blocks: BlockRecord;
  sets: SetRecord;
  runs: RunRecord;
  authorizationServer: AuthorizationServerRecord;
  audit: AuditSegmentRecord;
}
export type CollectionName = keyof Collections;

export interface SealedField<R> {
  /** The field of the record that holds it. */
  field: keyof R & string;
  value: string;
  context: SealContext;
}

interface CollectionShape<R> {
  /** The field that names a record within its collection. */
  key: keyof R & string;
  /** Every sealed value of a record, with what it must open under. */
  sealed(record: R): SealedField<R>[];
}

export const keyCheckContext: SealContext = {
  tenant: '-',
  principal: '-',
  server: '-',
  kind: 'system',
  field: 'key-check',
};

/** Bound to the account: a hash moved into another row, or under another tenant, does not open. */
export function toPasswordSealContext(user: Pick<UserRecord, 'id' | 'tenant'>): SealContext {
  return {
    tenant: user.tenant,
    principal: `user:${user.id}`,
    server: '-',
    kind: 'account',
    field: 'password',
  };
}

export const KEY_CHECK = 'key-check';

export const collectionShapes: { [N in CollectionName]: CollectionShape<Collections[N]> } = {
  // The key check first: a copy under the wrong key stops before anything is written.
  system: {
    key: 'name',
    sealed: (row) =>
      row.name === KEY_CHECK ? [{ field: 'value', value: row.value, context: keyCheckContext }] : [],
  },
  users: {
    key: 'id',
    sealed: (user) =>
      user.passwordSealed === null
        ? []
        : [{ field: 'passwordSealed', value: user.passwordSealed, context: toPasswordSealContext(user) }],
  },
  sessions: { key: 'hash', sealed: () => [] },
  tickets: { key: 'hash', sealed: () => [] },
  variables: {
    key: 'id',
    sealed: (variable) => [
      { field: 'valueSealed', value: variable.valueSealed, context: toVariableSealContext(variable) },
    ],
  },
  servers: {
    key: 'id',
    sealed: (server) => [
      { field: 'configSealed', value: server.configSealed, context: toServerSealContext(server) },
    ],
  },
  overrides: {
    key: 'id',
    sealed: (override) => [
      { field: 'configSealed', value: override.configSealed, context: toOverrideSealContext(override) },
    ],
  },
  roles: { key: 'id', sealed: () => [] },
  acl: { key: 'id', sealed: () => [] },
  apiKeys: { key: 'id', sealed: () => [] },
  credentials: {
    key: 'id',
    sealed: (credential) =>
      credential.sealed === null
        ? []
        : [{ field: 'sealed', value: credential.sealed, context: toCredentialSealContext(credential) }],
  },
  credentialUsage: { key: 'id', sealed: () => [] },
  oauthClients: {
    key: 'id',
    sealed: (client) => [
      { field: 'sealed', value: client.sealed, context: toOAuthClientSealContext(client) },
    ],
  },
  drafts: {
    key: 'id',
    sealed: (draft) => [{ field: 'sealed', value: draft.sealed, context: toDraftSealContext(draft) }],
  },
  conversations: {
    key: 'id',
    sealed: (conversation) => [
      { field: 'sealed', value: conversation.sealed, context: toConversationSealContext(conversation) },
    ],
  },
  chatMessages: {
    key: 'id',
    sealed: (message) => [
      { field: 'sealed', value: message.sealed, context: toChatMessageSealContext(message) },
    ],
  },
  blocks: {
    key: 'id',
    sealed: (block) => [{ field: 'sealed', value: block.sealed, context: toBlockSealContext(block) }],
  },
  sets: {
    key: 'id',
    sealed: (set) => [{ field: 'sealed', value: set.sealed, context: toSetSealContext(set) }],
  },
  runs: {
    key: 'id',
    sealed: (run) => [
      { field: 'titleSealed', value: run.titleSealed, context: toRunTitleSealContext(run) },
      { field: 'sealed', value: run.sealed, context: toRunSealContext(run) },
    ],
  },
  authorizationServer: {
    key: 'key',
    sealed: (record) => [
      { field: 'sealed', value: record.sealed, context: toAuthorizationServerRecordSealContext(record) },
    ],
  },
  audit: { key: 'id', sealed: () => [] },
};

export const collectionNames = Object.keys(collectionShapes) as CollectionName[];

/** One sealed value of a record, and the same under another key. */
export interface ResealedValue<R> {
  /** Of the record. */
  readonly key: string;
  readonly field: keyof R & string;
  readonly oldValue: string;
  readonly newValue: string;
}

/** Bulk access for moving a store; not for serving requests. */
export interface RawCollections {
  count(name: CollectionName): Promise<number>;
  /** Up to `limit` records in key order, after the given key. */
  page<N extends CollectionName>(name: N, after: string | null, limit: number): Promise<Collections[N][]>;
  /** Inserts or replaces by key, durably. */
  put<N extends CollectionName>(name: N, records: readonly Collections[N][]): Promise<void>;
  /**
   * Durably; each value only where it still is what it was, as one step, and nothing else of the record: gateways may be
   * writing it at the same time. How many were.
   */
  reseal<N extends CollectionName>(
    name: N,
    values: readonly ResealedValue<Collections[N]>[],
  ): Promise<number>;
  /** Durably; a key that is not there is no mistake. */
  remove(name: CollectionName, keys: readonly string[]): Promise<void>;
}

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

/** The records that a store copy moves to another store. Leases, counters and caches are not copied. */
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
  /** The field of the record with the encrypted value. */
  field: keyof R & string;
  value: string;
  context: SealContext;
}

interface CollectionShape<R> {
  /** The field that identifies a record in its collection. */
  key: keyof R & string;
  /** All encrypted values of a record with their seal contexts. */
  sealed(record: R): SealedField<R>[];
}

export const keyCheckContext: SealContext = {
  tenant: '-',
  principal: '-',
  server: '-',
  kind: 'system',
  field: 'key-check',
};

/** Binds the hash to the account: a hash copied to another row or tenant fails to decrypt. */
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
  // The key check is first, so that a copy with the wrong key stops before it writes anything.
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

/** One encrypted value of a record, under the old and the new key. */
export interface ResealedValue<R> {
  /** The key of the record. */
  readonly key: string;
  readonly field: keyof R & string;
  readonly oldValue: string;
  readonly newValue: string;
}

/** Bulk access for copying a store. Not for serving requests. */
export interface RawCollections {
  count(name: CollectionName): Promise<number>;
  /** Up to `limit` records in key order, after the given key. */
  page<N extends CollectionName>(name: N, after: string | null, limit: number): Promise<Collections[N][]>;
  /** Inserts or replaces by key, durably. */
  put<N extends CollectionName>(name: N, records: readonly Collections[N][]): Promise<void>;
  /**
   * Replaces each encrypted value durably if it is unchanged, and no other field: gateways may write the record at
   * the same time. Returns the number of replaced values.
   */
  reseal<N extends CollectionName>(
    name: N,
    values: readonly ResealedValue<Collections[N]>[],
  ): Promise<number>;
  /** Removes durably. Unknown keys are ignored. */
  remove(name: CollectionName, keys: readonly string[]): Promise<void>;
}

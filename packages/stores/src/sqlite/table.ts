import { type CollectionName, type Collections, collectionShapes } from '@behalf/gateway/ports';
import type { Param, Row, Transaction } from './database.ts';

/** A copied table. The only code that converts between records and rows. */
export interface Table<R> {
  readonly name: string;
  readonly key: keyof R & string;
  insert(tx: Transaction, record: R): void;
  /**
   * Inserts the record, or replaces the record with the same key. A unique index on other columns still rejects
   * it.
   */
  put(tx: Transaction, record: R): void;
  /** Like `put`, but removes conflicting rows. For copies, where only the complete result counts. */
  replaceConflicting(tx: Transaction, record: R): void;
  /** Writes the given fields where the condition holds. Returns the number of rows. */
  update(tx: Transaction, fields: Partial<R>, where: string, ...params: Param[]): number;
  toRecord(row: Row | undefined): R | null;
  toRecords(rows: readonly Row[]): R[];
}

export function createTable<N extends CollectionName>(name: N): Table<Collections[N]> {
  type R = Collections[N];
  const columnNames = columns[name];
  const { key } = collectionShapes[name];
  const jsonNames: readonly string[] = jsonColumns[name] ?? [];
  const booleanNames: readonly string[] = booleanColumns[name] ?? [];
  const valueList = `(${columnNames.join(', ')}) VALUES (${columnNames.map(() => '?').join(', ')})`;
  const assignments = columnNames
    .filter((column) => column !== key)
    .map((column) => `${column} = excluded.${column}`);
  const upsert = `INSERT INTO ${name} ${valueList} ON CONFLICT (${key}) DO UPDATE SET ${assignments.join(', ')}`;

  const encode = (record: Partial<R>, column: keyof R & string): Param => {
    if (jsonNames.includes(column)) return JSON.stringify(record[column]);
    return booleanNames.includes(column) ? Number(record[column]) : (record[column] as Param);
  };
  const decode = (row: Row): R => {
    for (const column of jsonNames) row[column] = JSON.parse(row[column] as string) as unknown;
    for (const column of booleanNames) row[column] = row[column] === 1;
    return row as unknown as R;
  };
  const createWriter = (sql: string) => (tx: Transaction, record: R) =>
    void tx.run(sql, ...columnNames.map((column) => encode(record, column)));

  return {
    name,
    key,
    insert: createWriter(`INSERT INTO ${name} ${valueList}`),
    put: createWriter(upsert),
    replaceConflicting: createWriter(`INSERT OR REPLACE INTO ${name} ${valueList}`),
    update(tx, fields, where, ...params) {
      const changedColumns = columnNames.filter((column) => fields[column] !== undefined);
      const assignments = changedColumns.map((column) => `${column} = ?`).join(', ');
      const values = changedColumns.map((column) => encode(fields, column));
      return tx.run(`UPDATE ${name} SET ${assignments} WHERE ${where}`, ...values, ...params);
    },
    toRecord: (row) => (row === undefined ? null : decode(row)),
    toRecords: (rows) => rows.map(decode),
  };
}

/** Replaces a record if it still has version `seen`. */
export function replaceIfVersion<R extends { id: string; tenant: string; version: number }>(
  tx: Transaction,
  table: Table<R>,
  record: R,
  expectedVersion: number,
): 'replaced' | 'version_conflict' | 'missing' {
  const { id, tenant } = record;
  if (table.update(tx, record, 'id = ? AND tenant = ? AND version = ?', id, tenant, expectedVersion) > 0)
    return 'replaced';
  const existing = tx.get(`SELECT 1 FROM ${table.name} WHERE id = ? AND tenant = ?`, id, tenant);
  return existing === undefined ? 'missing' : 'version_conflict';
}

/** Columns of each copied table. */
export const columns: { readonly [N in CollectionName]: readonly (keyof Collections[N] & string)[] } = {
  users: [
    'id',
    'tenant',
    'issuer',
    'subject',
    'email',
    'name',
    'role',
    'roleSource',
    'roleConfirmedAt',
    'disabledAt',
    'signedOutAt',
    'passwordSealed',
    'createdAt',
    'updatedAt',
  ],
  sessions: ['hash', 'userId', 'tenant', 'via', 'groups', 'grant', 'createdAt', 'expiresAt'],
  tickets: ['hash', 'kind', 'createdAt', 'expiresAt', 'consumedAt'],
  system: ['name', 'value'],
  variables: ['id', 'tenant', 'userId', 'serverId', 'name', 'valueSealed', 'updatedAt'],
  servers: [
    'id',
    'tenant',
    'name',
    'normalizedName',
    'author',
    'version',
    'configSealed',
    'createdAt',
    'updatedAt',
    'updatedBy',
    'securedBy',
    'securedAt',
    'securedHash',
  ],
  overrides: [
    'id',
    'tenant',
    'name',
    'version',
    'configSealed',
    'createdAt',
    'updatedAt',
    'updatedBy',
    'securedBy',
    'securedAt',
  ],
  roles: [
    'id',
    'tenant',
    'name',
    'description',
    'permissions',
    'version',
    'createdAt',
    'updatedAt',
    'updatedBy',
  ],
  acl: ['id', 'tenant', 'serverId', 'principalType', 'principalId', 'bits', 'grantedBy', 'grantedAt'],
  apiKeys: [
    'id',
    'hash',
    'tenant',
    'userId',
    'name',
    'hint',
    'scopes',
    'createdAt',
    'expiresAt',
    'lastUsedAt',
  ],
  credentials: [
    'id',
    'tenant',
    'principal',
    'serverId',
    'kind',
    'label',
    'isDefault',
    'canonicalUrl',
    'issuer',
    'clientId',
    'resource',
    'status',
    'reason',
    'statusAt',
    'generation',
    'tokenSeq',
    'version',
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
    'claimSeq',
    'claimOwner',
    'claimStartedAt',
    'claimDeadline',
    'expiresAt',
    'createdAt',
    'updatedAt',
  ],
  credentialUsage: ['id', 'lastUsedAt', 'lastOutcome', 'refreshes'],
  oauthClients: [
    'id',
    'tenant',
    'serverId',
    'issuer',
    'redirectUri',
    'clientId',
    'sealed',
    'createdAt',
    'expiresAt',
  ],
  drafts: ['id', 'tenant', 'userId', 'canonicalUrl', 'sealed', 'createdAt', 'expiresAt', 'takenAt'],
  conversations: ['id', 'tenant', 'userId', 'createdAt', 'updatedAt', 'sealed'],
  chatMessages: ['id', 'tenant', 'userId', 'conversationId', 'seq', 'size', 'createdAt', 'sealed'],
  blocks: [
    'id',
    'tenant',
    'owner',
    'serverId',
    'tool',
    'version',
    'sealed',
    'createdAt',
    'updatedAt',
    'updatedBy',
  ],
  sets: ['id', 'tenant', 'owner', 'version', 'sealed', 'createdAt', 'updatedAt', 'updatedBy'],
  runs: [
    'id',
    'tenant',
    'userId',
    'setId',
    'state',
    'isCancelling',
    'worker',
    'done',
    'total',
    'version',
    'titleSealed',
    'sealed',
    'createdAt',
    'updatedAt',
    'expiresAt',
  ],
  authorizationServer: ['key', 'kind', 'family', 'sealed', 'consumedAt', 'createdAt', 'expiresAt'],
  audit: ['id', 'writer', 'seq', 'firstAt', 'lastAt', 'count', 'prev', 'mac', 'events'],
};

/** Columns with lists and maps, stored as JSON. */
const jsonColumns: { readonly [N in CollectionName]?: readonly (keyof Collections[N] & string)[] } = {
  sessions: ['groups', 'grant'],
  roles: ['permissions'],
  apiKeys: ['scopes'],
  credentials: ['endpoints'],
};

/** SQLite has no booleans: stored as 1 and 0. */
const booleanColumns: {
  readonly [N in CollectionName]?: readonly (keyof Collections[N] & string)[];
} = { credentials: ['isDefault', 'rtSuspect'], runs: ['isCancelling'] };

import {
  type OAuthClientStore,
  type OAuthFlowRecord,
  type OAuthFlowStore,
  oauthClientId,
  pendingStatuses,
} from '@behalf/gateway/ports';
import { checkFlowLimits, matchesFlowCondition, pickFlowChanges } from '../writeRules.ts';
import type { Param, Row, Sqlite, Transaction } from './database.ts';
import { createTable } from './table.ts';

/** Not part of the copied tables: a sign-in takes minutes, so a store copy leaves flows out. */
const columns = [
  'id',
  'tenant',
  'userId',
  'serverId',
  'stateHash',
  'browserHash',
  'status',
  'error',
  'sealed',
  'createdAt',
  'expiresAt',
  'removeAt',
] as const satisfies readonly (keyof OAuthFlowRecord)[];

const PENDING = `status IN (${pendingStatuses.map((status) => `'${status}'`).join(', ')}) AND expiresAt > ?`;
const INSERT = `INSERT INTO oauthFlows (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;

export function createSqliteOAuthFlows(db: Sqlite): OAuthFlowStore {
  type Reader = Pick<Transaction, 'get'>;
  const toFlowRecord = (row: Row | undefined) =>
    row === undefined ? null : (row as unknown as OAuthFlowRecord);
  const readFlow = (reader: Reader, id: string) =>
    toFlowRecord(reader.get('SELECT * FROM oauthFlows WHERE id = ?', id));
  const readPending = (of: Reader, tenant: string, userId: string, serverId: string, now: number) =>
    toFlowRecord(
      of.get(
        `SELECT * FROM oauthFlows WHERE tenant = ? AND userId = ? AND serverId = ? AND ${PENDING}`,
        ...[tenant, userId, serverId, now],
      ),
    );
  const countPending = (reader: Reader, where: string, ...params: Param[]) =>
    reader.get(
      `SELECT count(*) AS count, coalesce(min(expiresAt), 0) AS earliestExpiry FROM oauthFlows WHERE ${where} AND ${PENDING}`,
      ...params,
    ) as { count: number; earliestExpiry: number };

  return {
    insert: (flow, limits, now) =>
      db.write((tx) => {
        const { tenant, userId, serverId } = flow;
        const existing = readPending(tx, tenant, userId, serverId, now);
        if (existing !== null) return { kind: 'pending', flow: existing };
        const userCount = countPending(tx, 'tenant = ? AND userId = ?', tenant, userId, now);
        const exceeded = checkFlowLimits(userCount, countPending(tx, 'tenant = ?', tenant, now), limits);
        if (exceeded !== null) return exceeded;
        tx.run(INSERT, ...columns.map((column) => flow[column]));
        return { kind: 'inserted' };
      }),
    async getRetryAt(tenant, userId, limits, now) {
      const userCount = countPending(db, 'tenant = ? AND userId = ?', tenant, userId, now);
      return checkFlowLimits(userCount, countPending(db, 'tenant = ?', tenant, now), limits)?.retryAt ?? null;
    },
    find: async (id) => readFlow(db, id),
    findByState: async (stateHash) =>
      toFlowRecord(db.get('SELECT * FROM oauthFlows WHERE stateHash = ?', stateHash)),
    findPending: async (tenant, userId, serverId, now) => readPending(db, tenant, userId, serverId, now),
    transition: (id, condition, patch) =>
      db.write((tx) => {
        const current = readFlow(tx, id);
        if (current === null || !matchesFlowCondition(current, condition)) return null;
        const next = { ...current, ...pickFlowChanges(patch) };
        const set = columns.map((column) => `${column} = ?`).join(', ');
        tx.run(`UPDATE oauthFlows SET ${set} WHERE id = ?`, ...columns.map((column) => next[column]), id);
        return next;
      }),
    removeByUser: (tenant, userId, serverId) =>
      db.write((tx) =>
        serverId === undefined
          ? tx.run('DELETE FROM oauthFlows WHERE tenant = ? AND userId = ?', tenant, userId)
          : tx.run(
              'DELETE FROM oauthFlows WHERE tenant = ? AND userId = ? AND serverId = ?',
              ...[tenant, userId, serverId],
            ),
      ),
    removeByServer: (tenant, serverId) =>
      db.write((tx) => tx.run('DELETE FROM oauthFlows WHERE tenant = ? AND serverId = ?', tenant, serverId)),
    removeExpired: (now) => db.write((tx) => tx.run('DELETE FROM oauthFlows WHERE removeAt <= ?', now)),
  };
}

export function createSqliteOAuthClients(db: Sqlite): OAuthClientStore {
  const clients = createTable('oauthClients');
  const readClient = (reader: Pick<Transaction, 'get'>, id: string) =>
    clients.toRecord(reader.get('SELECT * FROM oauthClients WHERE id = ?', id));
  return {
    insert: (client) =>
      db.write((tx) => {
        const existing = readClient(tx, client.id);
        if (existing === null) clients.insert(tx, client);
        return existing ?? client;
      }),
    find: async (key) => readClient(db, oauthClientId(key)),
    replace: (client, clientId) =>
      db.write((tx) => {
        if (readClient(tx, client.id)?.clientId !== clientId) return false;
        clients.update(tx, client, 'id = ?', client.id);
        return true;
      }),
    remove: async (key, clientId) =>
      (await db.write((tx) =>
        tx.run('DELETE FROM oauthClients WHERE id = ? AND clientId = ?', oauthClientId(key), clientId),
      )) > 0,
    removeByServer: (tenant, serverId) =>
      db.write((tx) =>
        tx.run('DELETE FROM oauthClients WHERE tenant = ? AND serverId = ?', tenant, serverId),
      ),
  };
}

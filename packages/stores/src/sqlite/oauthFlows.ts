import { pendingStatuses, type OAuthFlowRecord, type OAuthFlowStore } from '@behalf/gateway/ports';
import { flowChange, flowConditionHolds, lackOfPlace } from '../flowRules.ts';
import type { Param, Row, Sqlite, Transaction } from './database.ts';

/** A sign-in takes minutes: these are left behind by a move, so they are no table of its list. */
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
  const one = (row: Row | undefined) => (row === undefined ? null : (row as unknown as OAuthFlowRecord));
  const held = (of: Reader, id: string) => one(of.get('SELECT * FROM oauthFlows WHERE id = ?', id));
  const pendingOf = (of: Reader, tenant: string, userId: string, serverId: string, now: number) =>
    one(
      of.get(
        `SELECT * FROM oauthFlows WHERE tenant = ? AND userId = ? AND serverId = ? AND ${PENDING}`,
        ...[tenant, userId, serverId, now],
      ),
    );
  const count = (of: Reader, where: string, ...params: Param[]) =>
    of.get(
      `SELECT count(*) AS count, coalesce(min(expiresAt), 0) AS earliestExpiry FROM oauthFlows WHERE ${where} AND ${PENDING}`,
      ...params,
    ) as { count: number; earliestExpiry: number };

  return {
    insert: (flow, caps, now) =>
      db.write((tx) => {
        const { tenant, userId, serverId } = flow;
        const same = pendingOf(tx, tenant, userId, serverId, now);
        if (same !== null) return { kind: 'pending', flow: same };
        const ofUser = count(tx, 'tenant = ? AND userId = ?', tenant, userId, now);
        const lack = lackOfPlace(ofUser, count(tx, 'tenant = ?', tenant, now), caps);
        if (lack !== null) return lack;
        tx.run(INSERT, ...columns.map((column) => flow[column]));
        return { kind: 'inserted' };
      }),
    async getRetryAt(tenant, userId, caps, now) {
      const ofUser = count(db, 'tenant = ? AND userId = ?', tenant, userId, now);
      return lackOfPlace(ofUser, count(db, 'tenant = ?', tenant, now), caps)?.retryAt ?? null;
    },
    find: async (id) => held(db, id),
    findByState: async (stateHash) => one(db.get('SELECT * FROM oauthFlows WHERE stateHash = ?', stateHash)),
    findPending: async (tenant, userId, serverId, now) => pendingOf(db, tenant, userId, serverId, now),
    transition: (id, when, patch) =>
      db.write((tx) => {
        const before = held(tx, id);
        if (before === null || !flowConditionHolds(before, when)) return null;
        const after = { ...before, ...flowChange(patch) };
        const set = columns.map((column) => `${column} = ?`).join(', ');
        tx.run(`UPDATE oauthFlows SET ${set} WHERE id = ?`, ...columns.map((column) => after[column]), id);
        return after;
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

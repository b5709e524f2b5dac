import type { OwnedRecord, OwnedStore, RunMetadata, RunStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import { type Table, columns, createTable, replaceIfVersion } from './table.ts';

/** Stores blocks or sets. */
export function createSqliteOwned<R extends OwnedRecord>(db: Sqlite, table: Table<R>): OwnedStore<R> {
  const { name } = table;
  return {
    find: async (tenant, id) =>
      table.toRecord(db.get(`SELECT * FROM ${name} WHERE tenant = ? AND id = ?`, tenant, id)),
    async findMany(tenant, ids) {
      if (ids.length === 0) return [];
      const placeholders = ids.map(() => '?').join(', ');
      return table.toRecords(
        db.all(
          `SELECT * FROM ${name} WHERE tenant = ? AND id IN (${placeholders}) ORDER BY id`,
          tenant,
          ...ids,
        ),
      );
    },
    insert: (record, maxPerOwner) =>
      db.write((tx) => {
        const { tenant, owner } = record;
        const row = tx.get(`SELECT count(*) AS n FROM ${name} WHERE tenant = ? AND owner = ?`, tenant, owner);
        if (Number(row?.['n']) >= maxPerOwner) return 'full';
        table.insert(tx, record);
        return 'inserted';
      }),
    replace: (record, expectedVersion) =>
      db.write((tx) => replaceIfVersion(tx, table, record, expectedVersion)),
    remove: async (tenant, id) =>
      (await db.write((tx) => tx.run(`DELETE FROM ${name} WHERE tenant = ? AND id = ?`, tenant, id))) > 0,
  };
}

const metadataColumns = columns.runs.filter((column) => column !== 'sealed').join(', ');
const OF_USER = 'tenant = ? AND userId = ?';
const LATEST_FIRST = 'ORDER BY createdAt DESC, id DESC';

export function createSqliteRuns(db: Sqlite): RunStore {
  const runs = createTable('runs');
  return {
    find: async (tenant, userId, id) =>
      runs.toRecord(db.get(`SELECT * FROM runs WHERE ${OF_USER} AND id = ?`, tenant, userId, id)),
    async findMetadata(tenant, userId, id) {
      const sql = `SELECT ${metadataColumns} FROM runs WHERE ${OF_USER} AND id = ?`;
      return runs.toRecord(db.get(sql, tenant, userId, id)) satisfies RunMetadata | null;
    },
    async list(tenant, userId, setId) {
      const sql = `SELECT ${metadataColumns} FROM runs WHERE ${OF_USER} AND setId = ? ${LATEST_FIRST}`;
      return runs.toRecords(db.all(sql, tenant, userId, setId)) satisfies RunMetadata[];
    },
    async listRunning(tenant, userId) {
      const sql = `SELECT ${metadataColumns} FROM runs WHERE ${OF_USER} AND state = 'running' ${LATEST_FIRST}`;
      return runs.toRecords(db.all(sql, tenant, userId)) satisfies RunMetadata[];
    },
    insert: (run, maxRunning) =>
      db.write((tx) => {
        const sql = `SELECT count(*) AS n FROM runs WHERE ${OF_USER} AND state = 'running'`;
        if (Number(tx.get(sql, run.tenant, run.userId)?.['n']) >= maxRunning) return 'full';
        runs.insert(tx, run);
        return 'inserted';
      }),
    replace: (run, expectedVersion) =>
      db.write((tx) => {
        const { tenant, userId, id } = run;
        if (
          runs.update(tx, run, `${OF_USER} AND id = ? AND version = ?`, tenant, userId, id, expectedVersion) >
          0
        )
          return 'replaced';
        const existing = tx.get(`SELECT 1 FROM runs WHERE ${OF_USER} AND id = ?`, tenant, userId, id);
        return existing === undefined ? 'missing' : 'version_conflict';
      }),
    prune: (tenant, userId, keepCount) =>
      db.write((tx) =>
        tx.run(
          `DELETE FROM runs WHERE id IN
            (SELECT id FROM runs WHERE ${OF_USER} AND state <> 'running' ${LATEST_FIRST} LIMIT -1 OFFSET ?)`,
          ...[tenant, userId, keepCount],
        ),
      ),
    removeExpired: (now) => db.write((tx) => tx.run('DELETE FROM runs WHERE expiresAt <= ?', now)),
  };
}

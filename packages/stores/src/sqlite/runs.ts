import type { RunMetadata, RunStore } from '@behalf/gateway/ports';
import { columns } from './columns.ts';
import type { Sqlite } from './database.ts';
import { createTable } from './table.ts';

const heads = columns.runs.filter((column) => column !== 'sealed').join(', ');
const OWN = 'tenant = ? AND userId = ?';
const LATEST_FIRST = 'ORDER BY createdAt DESC, id DESC';

export function createSqliteRuns(db: Sqlite): RunStore {
  const runs = createTable('runs');
  return {
    find: async (tenant, userId, id) =>
      runs.one(db.get(`SELECT * FROM runs WHERE ${OWN} AND id = ?`, tenant, userId, id)),
    async findMetadata(tenant, userId, id) {
      const sql = `SELECT ${heads} FROM runs WHERE ${OWN} AND id = ?`;
      return runs.one(db.get(sql, tenant, userId, id)) satisfies RunMetadata | null;
    },
    async list(tenant, userId, setId) {
      const sql = `SELECT ${heads} FROM runs WHERE ${OWN} AND setId = ? ${LATEST_FIRST}`;
      return runs.all(db.all(sql, tenant, userId, setId)) satisfies RunMetadata[];
    },
    async listRunning(tenant, userId) {
      const sql = `SELECT ${heads} FROM runs WHERE ${OWN} AND state = 'running' ${LATEST_FIRST}`;
      return runs.all(db.all(sql, tenant, userId)) satisfies RunMetadata[];
    },
    insert: (run, most) =>
      db.write((tx) => {
        const sql = `SELECT count(*) AS n FROM runs WHERE ${OWN} AND state = 'running'`;
        if (Number(tx.get(sql, run.tenant, run.userId)?.['n']) >= most) return 'full';
        runs.insert(tx, run);
        return 'inserted';
      }),
    replace: (run, seen) =>
      db.write((tx) => {
        const { tenant, userId, id } = run;
        if (runs.update(tx, run, `${OWN} AND id = ? AND version = ?`, tenant, userId, id, seen) > 0)
          return 'replaced';
        const there = tx.get(`SELECT 1 FROM runs WHERE ${OWN} AND id = ?`, tenant, userId, id);
        return there === undefined ? 'missing' : 'version_conflict';
      }),
    prune: (tenant, userId, keep) =>
      db.write((tx) =>
        tx.run(
          `DELETE FROM runs WHERE id IN
            (SELECT id FROM runs WHERE ${OWN} AND state <> 'running' ${LATEST_FIRST} LIMIT -1 OFFSET ?)`,
          ...[tenant, userId, keep],
        ),
      ),
    removeExpired: (now) => db.write((tx) => tx.run('DELETE FROM runs WHERE expiresAt <= ?', now)),
  };
}

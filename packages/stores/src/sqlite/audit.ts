import type { AuditStore } from '@behalf/gateway/ports';
import type { Param, Sqlite } from './database.ts';
import { createTable } from './table.ts';

export function createSqliteAudit(db: Sqlite): AuditStore {
  const audit = createTable('audit');
  return {
    append: (segment) => db.write((tx) => audit.insert(tx, segment)),
    async page({ from, to, after }, limit) {
      const conditions: string[] = ['1'];
      const params: Param[] = [];
      if (from !== undefined) {
        conditions.push('lastAt >= ?');
        params.push(from);
      }
      if (to !== undefined) {
        conditions.push('firstAt <= ?');
        params.push(to);
      }
      if (after !== undefined) {
        conditions.push('(lastAt, id) < (?, ?)');
        params.push(after.lastAt, after.id);
      }
      const where = conditions.join(' AND ');
      const sql = `SELECT * FROM audit WHERE ${where} ORDER BY lastAt DESC, id DESC LIMIT ?`;
      return audit.toRecords(db.all(sql, ...params, limit));
    },
    listByWriter: async (writer, seq, limit) =>
      audit.toRecords(
        db.all('SELECT * FROM audit WHERE writer = ? AND seq >= ? ORDER BY seq LIMIT ?', writer, seq, limit),
      ),
    listWriters: async () =>
      db.all(
        `SELECT writer, min(seq) AS first, max(seq) AS last, count(*) AS segments
          FROM audit GROUP BY writer ORDER BY writer`,
      ) as unknown as { writer: string; first: number; last: number; segments: number }[],
    removeBefore: (before) => db.write((tx) => tx.run('DELETE FROM audit WHERE lastAt < ?', before)),
  };
}

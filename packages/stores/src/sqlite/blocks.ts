import type { BlockStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import { createTable } from './table.ts';
import { replaceSeen } from './versions.ts';

export function createSqliteBlocks(db: Sqlite): BlockStore {
  const blocks = createTable('blocks');
  return {
    find: async (tenant, id) =>
      blocks.one(db.get('SELECT * FROM blocks WHERE tenant = ? AND id = ?', tenant, id)),
    async findMany(tenant, ids) {
      if (ids.length === 0) return [];
      const places = ids.map(() => '?').join(', ');
      return blocks.all(
        db.all(`SELECT * FROM blocks WHERE tenant = ? AND id IN (${places}) ORDER BY id`, tenant, ...ids),
      );
    },
    insert: (block, most) =>
      db.write((tx) => {
        const { tenant, owner } = block;
        const held = tx.get('SELECT count(*) AS n FROM blocks WHERE tenant = ? AND owner = ?', tenant, owner);
        if (Number(held?.['n']) >= most) return 'full';
        blocks.insert(tx, block);
        return 'inserted';
      }),
    replace: (block, seen) => db.write((tx) => replaceSeen(tx, blocks, block, seen)),
    remove: async (tenant, id) =>
      (await db.write((tx) => tx.run('DELETE FROM blocks WHERE tenant = ? AND id = ?', tenant, id))) > 0,
  };
}

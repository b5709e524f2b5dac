import { KEY_CHECK, type SystemStore } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { Sqlite } from './database.ts';

export function createSqliteSystem(db: Sqlite, clock: Clock): SystemStore {
  return {
    getOrCreateKeyCheck: (candidate) =>
      db.write((tx) => {
        tx.run(
          'INSERT INTO system (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
          KEY_CHECK,
          candidate,
        );
        return String(tx.get('SELECT value FROM system WHERE name = ?', KEY_CHECK)?.['value']);
      }),
    heartbeat: (writer, ttlMs) =>
      db.write((tx) => {
        const now = clock.now();
        if (tx.get('SELECT 1 FROM maintenance WHERE expiresAt > ?', now)) return 'in_maintenance';
        if (tx.get('SELECT 1 FROM storeState WHERE copySource IS NOT NULL')) return 'in_maintenance';
        tx.run('DELETE FROM writers WHERE expiresAt <= ?', now);
        tx.run('INSERT OR REPLACE INTO writers (id, expiresAt) VALUES (?, ?)', writer, now + ttlMs);
        return 'announced';
      }),
    removeWriter: async (writer) =>
      void (await db.write((tx) => tx.run('DELETE FROM writers WHERE id = ?', writer))),
    beginMaintenance: (owner, ttlMs) =>
      db.write((tx) => {
        const now = clock.now();
        if (tx.get('SELECT 1 FROM writers WHERE expiresAt > ?', now)) return 'refused';
        if (tx.get('SELECT 1 FROM maintenance WHERE expiresAt > ? AND owner <> ?', now, owner))
          return 'refused';
        const isExtension = tx.get('SELECT 1 FROM maintenance WHERE expiresAt > ?', now) !== undefined;
        tx.run(
          'INSERT OR REPLACE INTO maintenance (id, owner, expiresAt) VALUES (1, ?, ?)',
          owner,
          now + ttlMs,
        );
        return isExtension ? 'prolonged' : 'begun';
      }),
    endMaintenance: async (owner) =>
      void (await db.write((tx) => tx.run('DELETE FROM maintenance WHERE owner = ?', owner))),
    getOrCreateIdentity: (candidate) =>
      db.write((tx) => {
        tx.run('UPDATE storeState SET identity = ? WHERE identity IS NULL', candidate);
        return String(tx.get('SELECT identity FROM storeState')?.['identity']);
      }),
    async getCopySource() {
      const source = db.get('SELECT copySource FROM storeState')?.['copySource'];
      return typeof source === 'string' ? source : null;
    },
    setCopySource: async (source) =>
      void (await db.write((tx) => tx.run('UPDATE storeState SET copySource = ?', source))),
  };
}

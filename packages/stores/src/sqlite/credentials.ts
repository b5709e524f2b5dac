import { credentialId, type CredentialStore } from '@behalf/gateway/ports';
import type { Sqlite } from './database.ts';
import { createTable } from './table.ts';

export function createSqliteCredentials(db: Sqlite): CredentialStore {
  const credentials = createTable('credentials');
  return {
    put: (credential) => db.write((tx) => credentials.put(tx, credential)),
    find: async (key) => credentials.one(db.get('SELECT * FROM credentials WHERE id = ?', credentialId(key))),
    remove: async (key) =>
      (await db.write((tx) => tx.run('DELETE FROM credentials WHERE id = ?', credentialId(key)))) > 0,
    removeOfPrincipal: (tenant, principal) =>
      db.write((tx) =>
        tx.run('DELETE FROM credentials WHERE tenant = ? AND principal = ?', tenant, principal),
      ),
    removeOfServer: (tenant, serverId) =>
      db.write((tx) => tx.run('DELETE FROM credentials WHERE tenant = ? AND serverId = ?', tenant, serverId)),
    removeExpired: (now) => db.write((tx) => tx.run('DELETE FROM credentials WHERE expiresAt <= ?', now)),
  };
}

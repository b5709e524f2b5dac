import { oauthClientId, type OAuthClientStore } from '@behalf/gateway/ports';
import type { Sqlite, Transaction } from './database.ts';
import { createTable } from './table.ts';

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

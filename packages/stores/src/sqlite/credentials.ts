import {
  type CredentialRecord,
  type CredentialStore,
  type CredentialUsageStore,
  type UserVariableStore,
  credentialId,
  credentialKey,
} from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { buildClaimFields, isClaimable, matchesCondition, pickCredentialChanges } from '../writeRules.ts';
import { type Param, type Sqlite, type Transaction, isUniqueViolation } from './database.ts';
import { createTable } from './table.ts';

const OF_SERVER = 'tenant = ? AND principal = ? AND serverId = ?';

/** All processes run on one host, so their clock is the clock of the store. */
export function createSqliteCredentials(db: Sqlite, clock: Clock): CredentialStore {
  const credentials = createTable('credentials');
  const readCredential = (reader: Pick<Transaction, 'get'>, id: string) =>
    credentials.toRecord(reader.get('SELECT * FROM credentials WHERE id = ?', id));
  /** Runs in the transaction that read `current`, so no other process has changed it since. */
  const write = (tx: Transaction, current: CredentialRecord, changes: Partial<CredentialRecord>) => {
    const fields = { ...changes, version: current.version + 1, updatedAt: clock.now() };
    credentials.update(tx, fields, 'id = ?', current.id);
    return { ...current, ...fields };
  };

  /** Removes the usage records as well. */
  const removeWhere = (where: string, ...params: Param[]) =>
    db.write((tx) => {
      const ids = `SELECT id FROM credentials WHERE ${where}`;
      tx.run(`DELETE FROM credentialUsage WHERE id IN (${ids})`, ...params);
      return tx.run(`DELETE FROM credentials WHERE ${where}`, ...params);
    });

  return {
    async insert(credential) {
      try {
        await db.write((tx) => {
          const { tenant, principal, serverId } = credential;
          const sql = `SELECT 1 FROM credentials WHERE ${OF_SERVER} AND isDefault = 1`;
          const isDefault = tx.get(sql, tenant, principal, serverId) === undefined;
          credentials.insert(tx, { ...credential, isDefault });
        });
        return true;
      } catch (error) {
        if (isUniqueViolation(error)) return false;
        throw error;
      }
    },
    find: async (key) => readCredential(db, credentialId(key)),
    findById: async (id) => readCredential(db, id),
    async list(tenant, principal, serverId) {
      const order = 'ORDER BY serverId, kind, label';
      return credentials.toRecords(
        serverId === undefined
          ? db.all(`SELECT * FROM credentials WHERE tenant = ? AND principal = ? ${order}`, tenant, principal)
          : db.all(`SELECT * FROM credentials WHERE ${OF_SERVER} ${order}`, tenant, principal, serverId),
      );
    },
    async listKeysByServer(tenant, serverId, limit) {
      const sql = 'SELECT * FROM credentials WHERE tenant = ? AND serverId = ? ORDER BY id LIMIT ?';
      return credentials.toRecords(db.all(sql, tenant, serverId, limit)).map(credentialKey);
    },
    replace: (id, condition, patch) =>
      db.write((tx) => {
        const current = readCredential(tx, id);
        return current && matchesCondition(current, condition)
          ? write(tx, current, pickCredentialChanges(patch))
          : null;
      }),
    claim: (id, request) =>
      db.write((tx) => {
        const current = readCredential(tx, id);
        // Read inside the transaction, because waiting for the lock takes time.
        const now = clock.now();
        if (!current || !isClaimable(current, request, now)) return null;
        const record = write(tx, current, buildClaimFields(current, request, now));
        return { record, tookOver: current.claimOwner !== null };
      }),
    extendClaim: (id, claimSeq, owner, ttlMs) =>
      db.write((tx) => {
        const current = readCredential(tx, id);
        if (current?.claimSeq !== claimSeq || current.claimOwner !== owner) return false;
        write(tx, current, { claimDeadline: clock.now() + ttlMs });
        return true;
      }),
    makeDefault: (id) =>
      db.write((tx) => {
        const credential = readCredential(tx, id);
        if (credential === null) return false;
        const { tenant, principal, serverId } = credential;
        tx.run(
          `UPDATE credentials SET isDefault = (id = ?), version = version + 1, updatedAt = ?
            WHERE ${OF_SERVER} AND isDefault <> (id = ?)`,
          ...[id, clock.now(), tenant, principal, serverId, id],
        );
        return true;
      }),
    remove: async (key) => (await removeWhere('id = ?', credentialId(key))) > 0,
    removeByPrincipal: (tenant, principal) => removeWhere('tenant = ? AND principal = ?', tenant, principal),
    removeByServer: (tenant, serverId) => removeWhere('tenant = ? AND serverId = ?', tenant, serverId),
    removeExpired: (now) => removeWhere('expiresAt <= ?', now),
    now: async () => clock.now(),
  };
}

export function createSqliteCredentialUsage(db: Sqlite): CredentialUsageStore {
  const usage = createTable('credentialUsage');
  return {
    put: (record) => db.write((tx) => usage.put(tx, record)),
    find: async (id) => usage.toRecord(db.get('SELECT * FROM credentialUsage WHERE id = ?', id)),
    listUsedSince: async (since, limit) =>
      usage.toRecords(
        db.all(
          'SELECT * FROM credentialUsage WHERE lastUsedAt >= ? ORDER BY lastUsedAt DESC, id LIMIT ?',
          since,
          limit,
        ),
      ),
    remove: async (id) =>
      (await db.write((tx) => tx.run('DELETE FROM credentialUsage WHERE id = ?', id))) > 0,
  };
}

const OF_USER = 'tenant = ? AND userId = ? AND serverId = ?';

export function createSqliteVariables(db: Sqlite): UserVariableStore {
  const variables = createTable('variables');
  return {
    list: async (tenant, userId, serverId) =>
      variables.toRecords(
        db.all(`SELECT * FROM variables WHERE ${OF_USER} ORDER BY name`, tenant, userId, serverId),
      ),
    async put(records) {
      if (records.length === 0) return;
      await db.write((tx) => {
        for (const record of records) variables.put(tx, record);
      });
    },
    remove: async (tenant, userId, serverId, name) =>
      (await db.write((tx) =>
        tx.run(`DELETE FROM variables WHERE ${OF_USER} AND name = ?`, tenant, userId, serverId, name),
      )) > 0,
    removeAll: (tenant, userId, serverId) =>
      db.write((tx) => tx.run(`DELETE FROM variables WHERE ${OF_USER}`, tenant, userId, serverId)),
    removeByServer: (tenant, serverId) =>
      db.write((tx) => tx.run('DELETE FROM variables WHERE tenant = ? AND serverId = ?', tenant, serverId)),
    removeByUser: (tenant, userId) =>
      db.write((tx) => tx.run('DELETE FROM variables WHERE tenant = ? AND userId = ?', tenant, userId)),
  };
}

import {
  credentialId,
  credentialKey,
  type CredentialRecord,
  type CredentialStore,
} from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { credentialChange } from '../credentialChange.ts';
import { claimOf, conditionHolds, isClaimable } from '../credentialRules.ts';
import { isUniqueViolation, type Param, type Sqlite, type Transaction } from './database.ts';
import { createTable } from './table.ts';

const OF_SERVER = 'tenant = ? AND principal = ? AND serverId = ?';

/** All processes are on one host, so its clock is the store's. */
export function createSqliteCredentials(db: Sqlite, clock: Clock): CredentialStore {
  const credentials = createTable('credentials');
  const held = (of: Pick<Transaction, 'get'>, id: string) =>
    credentials.one(of.get('SELECT * FROM credentials WHERE id = ?', id));
  /** Within the transaction that read `before`: nobody else has written it since. */
  const write = (tx: Transaction, before: CredentialRecord, change: Partial<CredentialRecord>) => {
    const counted = { ...change, version: before.version + 1, updatedAt: clock.now() };
    credentials.update(tx, counted, 'id = ?', before.id);
    return { ...before, ...counted };
  };

  /** What is known of their use goes along. */
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
          const other = `SELECT 1 FROM credentials WHERE ${OF_SERVER} AND isDefault = 1`;
          const isDefault = tx.get(other, tenant, principal, serverId) === undefined;
          credentials.insert(tx, { ...credential, isDefault });
        });
        return true;
      } catch (error) {
        if (isUniqueViolation(error)) return false;
        throw error;
      }
    },
    find: async (key) => held(db, credentialId(key)),
    findById: async (id) => held(db, id),
    async list(tenant, principal, serverId) {
      const order = 'ORDER BY serverId, kind, label';
      return credentials.all(
        serverId === undefined
          ? db.all(`SELECT * FROM credentials WHERE tenant = ? AND principal = ? ${order}`, tenant, principal)
          : db.all(`SELECT * FROM credentials WHERE ${OF_SERVER} ${order}`, tenant, principal, serverId),
      );
    },
    async listKeysByServer(tenant, serverId, limit) {
      const rows = 'SELECT * FROM credentials WHERE tenant = ? AND serverId = ? ORDER BY id LIMIT ?';
      return credentials.all(db.all(rows, tenant, serverId, limit)).map(credentialKey);
    },
    replace: (id, when, patch) =>
      db.write((tx) => {
        const before = held(tx, id);
        return before && conditionHolds(before, when) ? write(tx, before, credentialChange(patch)) : null;
      }),
    claim: (id, request) =>
      db.write((tx) => {
        const before = held(tx, id);
        // Read within the transaction: what it waited for the lock counts too.
        const now = clock.now();
        if (!before || !isClaimable(before, request, now)) return null;
        const record = write(tx, before, claimOf(before, request, now));
        return { record, tookOver: before.claimOwner !== null };
      }),
    extendClaim: (id, claimSeq, owner, ttlMs) =>
      db.write((tx) => {
        const before = held(tx, id);
        if (before?.claimSeq !== claimSeq || before.claimOwner !== owner) return false;
        write(tx, before, { claimDeadline: clock.now() + ttlMs });
        return true;
      }),
    makeDefault: (id) =>
      db.write((tx) => {
        const chosen = held(tx, id);
        if (chosen === null) return false;
        const { tenant, principal, serverId } = chosen;
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

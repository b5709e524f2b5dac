import type { ConversationStore } from '@behalf/gateway/ports';
import { checkConversationLimits } from '../writeRules.ts';
import type { Param, Sqlite } from './database.ts';
import { createTable } from './table.ts';

const OF_USER = 'tenant = ? AND userId = ?';
const IN_CONVERSATION = `${OF_USER} AND conversationId = ?`;

export function createSqliteConversations(db: Sqlite): ConversationStore {
  const conversations = createTable('conversations');
  const messages = createTable('chatMessages');
  return {
    async list(tenant, userId, { after, limit }) {
      const pageCondition = after === null ? '' : 'AND (updatedAt, id) < (?, ?)';
      const pageParams: Param[] = after === null ? [] : [after.updatedAt, after.id];
      const sql = `SELECT * FROM conversations WHERE ${OF_USER} ${pageCondition} ORDER BY updatedAt DESC, id DESC LIMIT ?`;
      return conversations.toRecords(db.all(sql, tenant, userId, ...pageParams, limit));
    },
    find: async (tenant, userId, id) =>
      conversations.toRecord(
        db.get(`SELECT * FROM conversations WHERE ${OF_USER} AND id = ?`, tenant, userId, id),
      ),
    insert: (conversation, maxPerUser) =>
      db.write((tx) => {
        const { tenant, userId } = conversation;
        const row = tx.get(`SELECT count(*) AS n FROM conversations WHERE ${OF_USER}`, tenant, userId);
        if (Number(row?.['n']) >= maxPerUser) return 'full';
        conversations.insert(tx, conversation);
        return 'inserted';
      }),
    rename: async (tenant, userId, id, sealed) =>
      (await db.write((tx) =>
        conversations.update(tx, { sealed }, `${OF_USER} AND id = ?`, tenant, userId, id),
      )) > 0,
    remove: async (tenant, userId, id) =>
      (await db.write((tx) => {
        tx.run(`DELETE FROM chatMessages WHERE ${IN_CONVERSATION}`, tenant, userId, id);
        return tx.run(`DELETE FROM conversations WHERE ${OF_USER} AND id = ?`, tenant, userId, id);
      })) > 0,
    listMessages: async (tenant, userId, conversationId) =>
      messages.toRecords(
        db.all(
          `SELECT * FROM chatMessages WHERE ${IN_CONVERSATION} ORDER BY seq`,
          tenant,
          userId,
          conversationId,
        ),
      ),
    putMessage: (message, changedAt, limits) =>
      db.write((tx) => {
        const { id, tenant, userId, conversationId, sealed } = message;
        const conversationKey = [tenant, userId, conversationId];
        const conversationCondition = `${OF_USER} AND id = ?`;
        if (!tx.get(`SELECT 1 FROM conversations WHERE ${conversationCondition}`, ...conversationKey))
          return 'missing';
        const totals = tx.get(
          `SELECT count(*) AS messages, coalesce(sum(size), 0) AS size, coalesce(max(seq), 0) AS seq
            FROM chatMessages WHERE ${IN_CONVERSATION} AND id <> ?`,
          ...conversationKey,
          id,
        ) as { messages: number; size: number; seq: number };
        const exceeded = checkConversationLimits(totals, sealed.length, limits);
        if (exceeded !== null) return exceeded;
        const content = { sealed, size: sealed.length };
        if (messages.update(tx, content, `${IN_CONVERSATION} AND id = ?`, ...conversationKey, id) === 0) {
          messages.insert(tx, { ...message, ...content, seq: totals.seq + 1, createdAt: changedAt });
        }
        tx.run(
          `UPDATE conversations SET updatedAt = max(updatedAt, ?) WHERE ${conversationCondition}`,
          changedAt,
          ...conversationKey,
        );
        return 'stored';
      }),
    removeByUser: (tenant, userId) =>
      db.write((tx) => {
        tx.run(`DELETE FROM chatMessages WHERE ${OF_USER}`, tenant, userId);
        return tx.run(`DELETE FROM conversations WHERE ${OF_USER}`, tenant, userId);
      }),
  };
}

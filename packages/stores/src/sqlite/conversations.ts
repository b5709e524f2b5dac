import type { ConversationStore } from '@behalf/gateway/ports';
import { lackOfRoom } from '../messageRoom.ts';
import type { Param, Sqlite } from './database.ts';
import { createTable } from './table.ts';

const OF_USER = 'tenant = ? AND userId = ?';
const IN_CONVERSATION = `${OF_USER} AND conversationId = ?`;

export function createSqliteConversations(db: Sqlite): ConversationStore {
  const conversations = createTable('conversations');
  const messages = createTable('chatMessages');
  return {
    async list(tenant, userId, { after, limit }) {
      const rest = after === null ? '' : 'AND (updatedAt, id) < (?, ?)';
      const place: Param[] = after === null ? [] : [after.updatedAt, after.id];
      const sql = `SELECT * FROM conversations WHERE ${OF_USER} ${rest} ORDER BY updatedAt DESC, id DESC LIMIT ?`;
      return conversations.all(db.all(sql, tenant, userId, ...place, limit));
    },
    find: async (tenant, userId, id) =>
      conversations.one(
        db.get(`SELECT * FROM conversations WHERE ${OF_USER} AND id = ?`, tenant, userId, id),
      ),
    insert: (conversation, most) =>
      db.write((tx) => {
        const { tenant, userId } = conversation;
        const held = tx.get(`SELECT count(*) AS n FROM conversations WHERE ${OF_USER}`, tenant, userId);
        if (Number(held?.['n']) >= most) return 'full';
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
      messages.all(
        db.all(
          `SELECT * FROM chatMessages WHERE ${IN_CONVERSATION} ORDER BY seq`,
          tenant,
          userId,
          conversationId,
        ),
      ),
    putMessage: (message, at, room) =>
      db.write((tx) => {
        const { id, tenant, userId, conversationId, sealed } = message;
        const place = [tenant, userId, conversationId];
        const its = `${OF_USER} AND id = ?`;
        if (!tx.get(`SELECT 1 FROM conversations WHERE ${its}`, ...place)) return 'missing';
        const others = tx.get(
          `SELECT count(*) AS messages, coalesce(sum(size), 0) AS size, coalesce(max(seq), 0) AS seq
            FROM chatMessages WHERE ${IN_CONVERSATION} AND id <> ?`,
          ...place,
          id,
        ) as { messages: number; size: number; seq: number };
        const lack = lackOfRoom(others, sealed.length, room);
        if (lack !== null) return lack;
        const kept = { sealed, size: sealed.length };
        if (messages.update(tx, kept, `${IN_CONVERSATION} AND id = ?`, ...place, id) === 0) {
          messages.insert(tx, { ...message, ...kept, seq: others.seq + 1, createdAt: at });
        }
        tx.run(`UPDATE conversations SET updatedAt = max(updatedAt, ?) WHERE ${its}`, at, ...place);
        return 'stored';
      }),
    removeByUser: (tenant, userId) =>
      db.write((tx) => {
        tx.run(`DELETE FROM chatMessages WHERE ${OF_USER}`, tenant, userId);
        return tx.run(`DELETE FROM conversations WHERE ${OF_USER}`, tenant, userId);
      }),
  };
}

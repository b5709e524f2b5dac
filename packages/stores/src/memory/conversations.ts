import type {
  ChatMessageRecord,
  ConversationPosition,
  ConversationRecord,
  ConversationStore,
} from '@behalf/gateway/ports';
import { lackOfRoom } from '../messageRoom.ts';
import { copiesOf, copyOf, inOrderOf, removeWhere } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryConversations({ conversations, chatMessages }: Tables): ConversationStore {
  const oldestFirst = inOrderOf<ConversationPosition>(
    ({ updatedAt }) => updatedAt,
    ({ id }) => id,
  );
  const isOf = (tenant: string, userId: string) => (row: { tenant: string; userId: string }) =>
    row.tenant === tenant && row.userId === userId;
  const ofUser = (tenant: string, userId: string) => [...conversations.values()].filter(isOf(tenant, userId));
  const find = (tenant: string, userId: string, id: string): ConversationRecord | undefined => {
    const found = conversations.get(id);
    return found && isOf(tenant, userId)(found) ? found : undefined;
  };
  const isIn = (tenant: string, userId: string, conversationId: string) => (message: ChatMessageRecord) =>
    isOf(tenant, userId)(message) && message.conversationId === conversationId;
  const messages = (tenant: string, userId: string, conversationId: string) =>
    [...chatMessages.values()].filter(isIn(tenant, userId, conversationId)).sort(inOrderOf(({ seq }) => seq));

  return {
    list: async (tenant, userId, { after, limit }) =>
      copiesOf(
        ofUser(tenant, userId)
          .filter((conversation) => after === null || oldestFirst(conversation, after) < 0)
          .sort((a, b) => oldestFirst(b, a))
          .slice(0, limit),
      ),
    find: async (tenant, userId, id) => copyOf(find(tenant, userId, id)),
    async insert(conversation, most) {
      if (conversations.has(conversation.id)) throw new Error('A conversation of this id exists');
      if (ofUser(conversation.tenant, conversation.userId).length >= most) return 'full';
      conversations.set(conversation.id, { ...conversation });
      return 'inserted';
    },
    async rename(tenant, userId, id, sealed) {
      const current = find(tenant, userId, id);
      if (current) conversations.set(id, { ...current, sealed });
      return current !== undefined;
    },
    async remove(tenant, userId, id) {
      removeWhere(chatMessages, isIn(tenant, userId, id));
      return find(tenant, userId, id) !== undefined && conversations.delete(id);
    },
    listMessages: async (tenant, userId, conversationId) =>
      copiesOf(messages(tenant, userId, conversationId)),
    async putMessage(message, at, room) {
      const { id, tenant, userId, conversationId, sealed } = message;
      const conversation = find(tenant, userId, conversationId);
      if (!conversation) return 'missing';
      const all = messages(tenant, userId, conversationId);
      const others = all.filter((other) => other.id !== id);
      const size = others.reduce((sum, other) => sum + other.size, 0);
      const lack = lackOfRoom({ messages: others.length, size }, sealed.length, room);
      if (lack !== null) return lack;
      const current = all.find((other) => other.id === id);
      if (!current && chatMessages.has(id)) throw new Error('A message of this id exists elsewhere');
      const { seq, createdAt } = current ?? { seq: (others.at(-1)?.seq ?? 0) + 1, createdAt: at };
      chatMessages.set(id, { ...message, seq, size: sealed.length, createdAt });
      const updatedAt = Math.max(conversation.updatedAt, at);
      conversations.set(conversationId, { ...conversation, updatedAt });
      return 'stored';
    },
    async removeByUser(tenant, userId) {
      removeWhere(chatMessages, isOf(tenant, userId));
      return removeWhere(conversations, isOf(tenant, userId));
    },
  };
}

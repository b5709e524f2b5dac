import type {
  ChatMessageRecord,
  ConversationPosition,
  ConversationRecord,
  ConversationStore,
} from '@behalf/gateway/ports';
import { checkConversationLimits } from '@behalf/stores';
import { type Tables, compareBy, copyAll, copyOrNull, removeWhere } from './tables.ts';

export function createMemoryConversations({ conversations, chatMessages }: Tables): ConversationStore {
  const oldestFirst = compareBy<ConversationPosition>(
    ({ updatedAt }) => updatedAt,
    ({ id }) => id,
  );
  const belongsTo = (tenant: string, userId: string) => (row: { tenant: string; userId: string }) =>
    row.tenant === tenant && row.userId === userId;
  const listByUser = (tenant: string, userId: string) =>
    [...conversations.values()].filter(belongsTo(tenant, userId));
  const find = (tenant: string, userId: string, id: string): ConversationRecord | undefined => {
    const found = conversations.get(id);
    return found && belongsTo(tenant, userId)(found) ? found : undefined;
  };
  const isInConversation =
    (tenant: string, userId: string, conversationId: string) => (message: ChatMessageRecord) =>
      belongsTo(tenant, userId)(message) && message.conversationId === conversationId;
  const listConversationMessages = (tenant: string, userId: string, conversationId: string) =>
    [...chatMessages.values()]
      .filter(isInConversation(tenant, userId, conversationId))
      .sort(compareBy(({ seq }) => seq));

  return {
    list: async (tenant, userId, { after, limit }) =>
      copyAll(
        listByUser(tenant, userId)
          .filter((conversation) => after === null || oldestFirst(conversation, after) < 0)
          .sort((a, b) => oldestFirst(b, a))
          .slice(0, limit),
      ),
    find: async (tenant, userId, id) => copyOrNull(find(tenant, userId, id)),
    async insert(conversation, maxPerUser) {
      if (conversations.has(conversation.id)) throw new Error('A conversation with this id already exists');
      if (listByUser(conversation.tenant, conversation.userId).length >= maxPerUser) return 'full';
      conversations.set(conversation.id, { ...conversation });
      return 'inserted';
    },
    async rename(tenant, userId, id, sealed) {
      const current = find(tenant, userId, id);
      if (current) conversations.set(id, { ...current, sealed });
      return current !== undefined;
    },
    async remove(tenant, userId, id) {
      removeWhere(chatMessages, isInConversation(tenant, userId, id));
      return find(tenant, userId, id) !== undefined && conversations.delete(id);
    },
    listMessages: async (tenant, userId, conversationId) =>
      copyAll(listConversationMessages(tenant, userId, conversationId)),
    async putMessage(message, changedAt, limits) {
      const { id, tenant, userId, conversationId, sealed } = message;
      const conversation = find(tenant, userId, conversationId);
      if (!conversation) return 'missing';
      const all = listConversationMessages(tenant, userId, conversationId);
      const others = all.filter((other) => other.id !== id);
      const size = others.reduce((sum, other) => sum + other.size, 0);
      const exceeded = checkConversationLimits({ messages: others.length, size }, sealed.length, limits);
      if (exceeded !== null) return exceeded;
      const current = all.find((other) => other.id === id);
      if (!current && chatMessages.has(id))
        throw new Error('A message with this id already exists in another conversation');
      const { seq, createdAt } = current ?? { seq: (others.at(-1)?.seq ?? 0) + 1, createdAt: changedAt };
      chatMessages.set(id, { ...message, seq, size: sealed.length, createdAt });
      const updatedAt = Math.max(conversation.updatedAt, changedAt);
      conversations.set(conversationId, { ...conversation, updatedAt });
      return 'stored';
    },
    async removeByUser(tenant, userId) {
      removeWhere(chatMessages, belongsTo(tenant, userId));
      return removeWhere(conversations, belongsTo(tenant, userId));
    },
  };
}

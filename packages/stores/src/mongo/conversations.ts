import type { ChatMessageInput, ConversationLimits, ConversationStore } from '@behalf/gateway/ports';
import { checkConversationLimits } from '../writeRules.ts';
import type { ChatMessageDoc } from './schemas.ts';
import { toRecordOrNull, toRecords } from './documents.ts';
import { type CommandRunner, isDuplicateKey } from './connection.ts';
import type { Models } from './models.ts';

/**
 * Of several concurrent messages for one position, one succeeds per attempt. More conflicts than this do not
 * occur.
 */
const MAX_INSERT_ATTEMPTS = 20;

/**
 * A MongoDB without a replica set has no transactions. Operations with several steps are ordered so that an
 * interruption leaves nothing that the owner cannot see and remove.
 */
export function createMongoConversations(
  { conversations, chatMessages }: Models,
  runner: CommandRunner,
): ConversationStore {
  const count = (tenant: string, userId: string) =>
    runner.run(() => conversations.countDocuments({ tenant, userId }).exec());
  const removeMessages = (filter: Partial<ChatMessageDoc>) =>
    runner.run(() => chatMessages.deleteMany(filter).exec());

  /** Tries once. Returns null if another message took the position. */
  async function tryPutMessage(message: ChatMessageInput, changedAt: number, limits: ConversationLimits) {
    const { id, ...rest } = message;
    const { tenant, userId, conversationId, sealed } = message;
    const conversationKey = { tenant, userId, conversationId };
    const conversationFilter = { _id: conversationId, tenant, userId };
    if ((await runner.run(() => conversations.exists(conversationFilter).exec())) === null) return 'missing';
    const all = await runner.run(() =>
      chatMessages
        .find(conversationKey, { seq: 1, size: 1 })
        .sort({ seq: 1 })
        .lean<Pick<ChatMessageDoc, '_id' | 'seq' | 'size'>[]>()
        .exec(),
    );
    const others = all.filter(({ _id }) => _id !== id);
    const totals = { messages: others.length, size: others.reduce((sum, { size }) => sum + size, 0) };
    const exceeded = checkConversationLimits(totals, sealed.length, limits);
    if (exceeded !== null) return exceeded;
    const content = { sealed, size: sealed.length };
    if (others.length < all.length) {
      await runner.run(() =>
        chatMessages.updateOne({ _id: id, ...conversationKey }, { $set: content }).exec(),
      );
    } else {
      try {
        const seq = (all.at(-1)?.seq ?? 0) + 1;
        await runner.run(() =>
          chatMessages.create([{ _id: id, ...rest, ...content, seq, createdAt: changedAt }]),
        );
      } catch (error) {
        if (isDuplicateKey(error)) return null;
        throw error;
      }
    }
    const result = await runner.run(() =>
      conversations.updateOne(conversationFilter, { $max: { updatedAt: changedAt } }).exec(),
    );
    if (result.matchedCount === 1) return 'stored';
    // The conversation was removed, perhaps before this message existed: remove the message as well.
    await removeMessages({ _id: id, ...conversationKey });
    return 'missing';
  }

  return {
    async list(tenant, userId, { after, limit }) {
      const pageFilter =
        after === null
          ? {}
          : {
              $or: [
                { updatedAt: { $lt: after.updatedAt } },
                { updatedAt: after.updatedAt, _id: { $lt: after.id } },
              ],
            };
      const docs = await runner.run(() =>
        conversations
          .find({ tenant, userId, ...pageFilter })
          .sort({ updatedAt: -1, _id: -1 })
          .limit(limit)
          .lean()
          .exec(),
      );
      return toRecords('conversations', docs);
    },
    find: async (tenant, userId, id) =>
      toRecordOrNull(
        'conversations',
        await runner.run(() => conversations.findOne({ _id: id, tenant, userId }).lean().exec()),
      ),
    async insert({ id, ...rest }, maxPerUser) {
      const { tenant, userId } = rest;
      if ((await count(tenant, userId)) >= maxPerUser) return 'full';
      await runner.run(() => conversations.create([{ _id: id, ...rest }]));
      // Concurrent inserts may exceed the limit: every process that sees too many removes its own record.
      if ((await count(tenant, userId)) <= maxPerUser) return 'inserted';
      await runner.run(() => conversations.deleteOne({ _id: id, tenant, userId }).exec());
      return 'full';
    },
    rename: async (tenant, userId, id, sealed) =>
      (
        await runner.run(() =>
          conversations.updateOne({ _id: id, tenant, userId }, { $set: { sealed } }).exec(),
        )
      ).matchedCount === 1,
    async remove(tenant, userId, id) {
      // Messages first: if interrupted, the conversation is still visible and can be removed again. The second
      // removal covers messages saved in between. A message saved later finds no conversation.
      await removeMessages({ tenant, userId, conversationId: id });
      const result = await runner.run(() => conversations.deleteOne({ _id: id, tenant, userId }).exec());
      await removeMessages({ tenant, userId, conversationId: id });
      return result.deletedCount === 1;
    },
    async listMessages(tenant, userId, conversationId) {
      const docs = await runner.run(() =>
        chatMessages.find({ tenant, userId, conversationId }).sort({ seq: 1 }).lean().exec(),
      );
      return toRecords('chatMessages', docs);
    },
    async putMessage(message, changedAt, limits) {
      for (let attempt = 1; attempt <= MAX_INSERT_ATTEMPTS; attempt += 1) {
        const outcome = await tryPutMessage(message, changedAt, limits);
        if (outcome !== null) return outcome;
      }
      throw new Error('The message id exists in another conversation, or every sequence number was taken');
    },
    async removeByUser(tenant, userId) {
      await removeMessages({ tenant, userId });
      const result = await runner.run(() => conversations.deleteMany({ tenant, userId }).exec());
      await removeMessages({ tenant, userId });
      return result.deletedCount;
    },
  };
}

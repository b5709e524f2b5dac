import type { ChatMessageInput, ConversationLimits, ConversationStore } from '@behalf/gateway/ports';
import { lackOfRoom } from '../messageRoom.ts';
import type { ChatMessageDoc } from './chatSchemas.ts';
import { recordOrNull, recordsOf } from './documents.ts';
import { isDuplicateKey } from './failures.ts';
import type { Gate } from './gate.ts';
import type { Models } from './models.ts';

/** Of those that want one place in a conversation one gets it each time; so many never meet there. */
const PLACE_TRIES = 20;

/**
 * A MongoDB that is no replica set has no transactions: what takes several steps here is ordered so that whatever it is
 * cut short after, nothing is left that its owner cannot see and remove.
 */
export function createMongoConversations(
  { conversations, chatMessages }: Models,
  gate: Gate,
): ConversationStore {
  const count = (tenant: string, userId: string) =>
    gate.run(() => conversations.countDocuments({ tenant, userId }).exec());
  const removeMessages = (filter: Partial<ChatMessageDoc>) =>
    gate.run(() => chatMessages.deleteMany(filter).exec());

  /** Tries once; null when somebody else got the place meanwhile. */
  async function tryPut(message: ChatMessageInput, at: number, room: ConversationLimits) {
    const { id, ...rest } = message;
    const { tenant, userId, conversationId, sealed } = message;
    const place = { tenant, userId, conversationId };
    const its = { _id: conversationId, tenant, userId };
    if ((await gate.run(() => conversations.exists(its).exec())) === null) return 'missing';
    const all = await gate.run(() =>
      chatMessages
        .find(place, { seq: 1, size: 1 })
        .sort({ seq: 1 })
        .lean<Pick<ChatMessageDoc, '_id' | 'seq' | 'size'>[]>()
        .exec(),
    );
    const others = all.filter(({ _id }) => _id !== id);
    const held = { messages: others.length, size: others.reduce((sum, { size }) => sum + size, 0) };
    const lack = lackOfRoom(held, sealed.length, room);
    if (lack !== null) return lack;
    const kept = { sealed, size: sealed.length };
    if (others.length < all.length) {
      await gate.run(() => chatMessages.updateOne({ _id: id, ...place }, { $set: kept }).exec());
    } else {
      try {
        const seq = (all.at(-1)?.seq ?? 0) + 1;
        await gate.run(() => chatMessages.create([{ _id: id, ...rest, ...kept, seq, createdAt: at }]));
      } catch (error) {
        if (isDuplicateKey(error)) return null;
        throw error;
      }
    }
    const touched = await gate.run(() => conversations.updateOne(its, { $max: { updatedAt: at } }).exec());
    if (touched.matchedCount === 1) return 'stored';
    // It was removed meanwhile, perhaps before the message was there to go with it.
    await removeMessages({ _id: id, ...place });
    return 'missing';
  }

  return {
    async list(tenant, userId, { after, limit }) {
      const rest =
        after === null
          ? {}
          : {
              $or: [
                { updatedAt: { $lt: after.updatedAt } },
                { updatedAt: after.updatedAt, _id: { $lt: after.id } },
              ],
            };
      const docs = await gate.run(() =>
        conversations
          .find({ tenant, userId, ...rest })
          .sort({ updatedAt: -1, _id: -1 })
          .limit(limit)
          .lean()
          .exec(),
      );
      return recordsOf('conversations', docs);
    },
    find: async (tenant, userId, id) =>
      recordOrNull(
        'conversations',
        await gate.run(() => conversations.findOne({ _id: id, tenant, userId }).lean().exec()),
      ),
    async insert({ id, ...rest }, most) {
      const { tenant, userId } = rest;
      if ((await count(tenant, userId)) >= most) return 'full';
      await gate.run(() => conversations.create([{ _id: id, ...rest }]));
      // Others came in meanwhile: whoever sees too many takes its own back.
      if ((await count(tenant, userId)) <= most) return 'inserted';
      await gate.run(() => conversations.deleteOne({ _id: id, tenant, userId }).exec());
      return 'full';
    },
    rename: async (tenant, userId, id, sealed) =>
      (
        await gate.run(() =>
          conversations.updateOne({ _id: id, tenant, userId }, { $set: { sealed } }).exec(),
        )
      ).matchedCount === 1,
    async remove(tenant, userId, id) {
      // Messages first: cut short here, the conversation is still there to be removed again. And once more for one that
      // was saved meanwhile; whoever saves one later finds no conversation.
      await removeMessages({ tenant, userId, conversationId: id });
      const gone = await gate.run(() => conversations.deleteOne({ _id: id, tenant, userId }).exec());
      await removeMessages({ tenant, userId, conversationId: id });
      return gone.deletedCount === 1;
    },
    async listMessages(tenant, userId, conversationId) {
      const docs = await gate.run(() =>
        chatMessages.find({ tenant, userId, conversationId }).sort({ seq: 1 }).lean().exec(),
      );
      return recordsOf('chatMessages', docs);
    },
    async putMessage(message, at, room) {
      for (let tries = 1; tries <= PLACE_TRIES; tries += 1) {
        const outcome = await tryPut(message, at, room);
        if (outcome !== null) return outcome;
      }
      throw new Error('The message id exists in another conversation, or every sequence number was taken');
    },
    async removeByUser(tenant, userId) {
      await removeMessages({ tenant, userId });
      const gone = await gate.run(() => conversations.deleteMany({ tenant, userId }).exec());
      await removeMessages({ tenant, userId });
      return gone.deletedCount;
    },
  };
}

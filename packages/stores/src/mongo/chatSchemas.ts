import { Schema } from 'mongoose';
import type { Collections } from '@behalf/gateway/ports';
import { schemaOptions, requiredText, requiredNumber, type Stored } from './fields.ts';

export type ConversationDoc = Stored<Collections['conversations'], 'id'>;
export type ChatMessageDoc = Stored<Collections['chatMessages'], 'id'>;

export const conversationSchema = new Schema<ConversationDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    userId: requiredText,
    sealed: requiredText,
    createdAt: requiredNumber,
    updatedAt: requiredNumber,
  },
  schemaOptions,
);
conversationSchema.index({ tenant: 1, userId: 1, updatedAt: 1, _id: 1 }, { name: 'user' });

export const chatMessageSchema = new Schema<ChatMessageDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    userId: requiredText,
    conversationId: requiredText,
    seq: requiredNumber,
    size: requiredNumber,
    sealed: requiredText,
    createdAt: requiredNumber,
  },
  schemaOptions,
);
chatMessageSchema.index({ tenant: 1, userId: 1, conversationId: 1, seq: 1 }, { name: 'place', unique: true });

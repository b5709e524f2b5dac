import { Schema } from 'mongoose';
import type { Collections } from '@behalf/gateway/ports';
import { options, text, time, type Stored } from './fields.ts';

export type ConversationDoc = Stored<Collections['conversations'], 'id'>;
export type ChatMessageDoc = Stored<Collections['chatMessages'], 'id'>;

export const conversationSchema = new Schema<ConversationDoc>(
  { _id: text, tenant: text, userId: text, sealed: text, createdAt: time, updatedAt: time },
  options,
);
conversationSchema.index({ tenant: 1, userId: 1, updatedAt: 1, _id: 1 }, { name: 'user' });

export const chatMessageSchema = new Schema<ChatMessageDoc>(
  {
    _id: text,
    tenant: text,
    userId: text,
    conversationId: text,
    seq: time,
    size: time,
    sealed: text,
    createdAt: time,
  },
  options,
);
chatMessageSchema.index({ tenant: 1, userId: 1, conversationId: 1, seq: 1 }, { name: 'place', unique: true });

import { Schema } from 'mongoose';
import type { Collections } from '@behalf/gateway/ports';
import { options, text, time, type Stored } from './fields.ts';

export type BlockDoc = Stored<Collections['blocks'], 'id'>;

export const blockSchema = new Schema<BlockDoc>(
  {
    _id: text,
    tenant: text,
    owner: text,
    serverId: text,
    tool: text,
    version: time,
    sealed: text,
    createdAt: time,
    updatedAt: time,
    updatedBy: text,
  },
  options,
);
blockSchema.index({ tenant: 1, owner: 1 }, { name: 'owner' });

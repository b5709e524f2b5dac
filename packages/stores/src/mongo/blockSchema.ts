import { Schema } from 'mongoose';
import type { Collections } from '@behalf/gateway/ports';
import { schemaOptions, requiredText, requiredNumber, type Stored } from './fields.ts';

export type BlockDoc = Stored<Collections['blocks'], 'id'>;

export const blockSchema = new Schema<BlockDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    owner: requiredText,
    serverId: requiredText,
    tool: requiredText,
    version: requiredNumber,
    sealed: requiredText,
    createdAt: requiredNumber,
    updatedAt: requiredNumber,
    updatedBy: requiredText,
  },
  schemaOptions,
);
blockSchema.index({ tenant: 1, owner: 1 }, { name: 'owner' });

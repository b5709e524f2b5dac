import { Schema } from 'mongoose';
import type { Collections } from '@behalf/gateway/ports';
import { schemaOptions, optionalText, requiredText, requiredNumber, type Stored } from './fields.ts';

export type SetDoc = Stored<Collections['sets'], 'id'>;
export type RunDoc = Stored<Collections['runs'], 'id'>;

export const setSchema = new Schema<SetDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    owner: requiredText,
    version: requiredNumber,
    sealed: requiredText,
    createdAt: requiredNumber,
    updatedAt: requiredNumber,
    updatedBy: requiredText,
  },
  schemaOptions,
);
setSchema.index({ tenant: 1, owner: 1 }, { name: 'owner' });

export const runSchema = new Schema<RunDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    userId: requiredText,
    setId: requiredText,
    state: requiredText,
    isCancelling: { type: Boolean, required: true },
    worker: optionalText,
    done: requiredNumber,
    total: requiredNumber,
    version: requiredNumber,
    titleSealed: requiredText,
    sealed: requiredText,
    createdAt: requiredNumber,
    updatedAt: requiredNumber,
    expiresAt: requiredNumber,
  },
  schemaOptions,
);
runSchema.index({ tenant: 1, userId: 1, createdAt: -1 }, { name: 'user' });
runSchema.index({ expiresAt: 1 }, { name: 'expiry' });

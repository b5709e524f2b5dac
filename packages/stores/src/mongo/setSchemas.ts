import { Schema } from 'mongoose';
import type { Collections } from '@behalf/gateway/ports';
import { options, anyText, text, time, type Stored } from './fields.ts';

export type SetDoc = Stored<Collections['sets'], 'id'>;
export type RunDoc = Stored<Collections['runs'], 'id'>;

export const setSchema = new Schema<SetDoc>(
  {
    _id: text,
    tenant: text,
    owner: text,
    version: time,
    sealed: text,
    createdAt: time,
    updatedAt: time,
    updatedBy: text,
  },
  options,
);
setSchema.index({ tenant: 1, owner: 1 }, { name: 'owner' });

export const runSchema = new Schema<RunDoc>(
  {
    _id: text,
    tenant: text,
    userId: text,
    setId: text,
    state: text,
    isCancelling: { type: Boolean, required: true },
    worker: anyText,
    done: time,
    total: time,
    version: time,
    titleSealed: text,
    sealed: text,
    createdAt: time,
    updatedAt: time,
    expiresAt: time,
  },
  options,
);
runSchema.index({ tenant: 1, userId: 1, createdAt: -1 }, { name: 'user' });
runSchema.index({ expiresAt: 1 }, { name: 'expiry' });

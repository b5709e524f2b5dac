import { Schema } from 'mongoose';
import type { Collections } from '@behalf/gateway/ports';
import { schemaOptions, requiredText, requiredNumber, nullableNumber, type Stored } from './fields.ts';

export type DraftDoc = Stored<Collections['drafts'], 'id'>;

export const draftSchema = new Schema<DraftDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    userId: requiredText,
    canonicalUrl: requiredText,
    sealed: requiredText,
    createdAt: requiredNumber,
    expiresAt: requiredNumber,
    takenAt: nullableNumber,
  },
  schemaOptions,
);
draftSchema.index({ tenant: 1, userId: 1 }, { name: 'user' });
// No TTL index: what was given for a draft is ended before the draft goes.
draftSchema.index({ expiresAt: 1 }, { name: 'sweep' });

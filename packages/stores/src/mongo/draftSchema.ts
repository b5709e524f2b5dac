import { Schema } from 'mongoose';
import type { Collections } from '@behalf/gateway/ports';
import { options, text, time, timeOrNull, type Stored } from './fields.ts';

export type DraftDoc = Stored<Collections['drafts'], 'id'>;

export const draftSchema = new Schema<DraftDoc>(
  {
    _id: text,
    tenant: text,
    userId: text,
    canonicalUrl: text,
    sealed: text,
    createdAt: time,
    expiresAt: time,
    takenAt: timeOrNull,
  },
  options,
);
draftSchema.index({ tenant: 1, userId: 1 }, { name: 'user' });
// No TTL index: what was given for a draft is ended before the draft goes.
draftSchema.index({ expiresAt: 1 }, { name: 'sweep' });

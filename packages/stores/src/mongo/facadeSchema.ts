import { Schema } from 'mongoose';
import type { Collections } from '@behalf/gateway/ports';
import { options, text, textOrNull, time, timeOrNull, type Stored } from './fields.ts';

export type FacadeDoc = Stored<Collections['authorizationServer'], 'key'>;

export const facadeSchema = new Schema<FacadeDoc>(
  {
    _id: text,
    kind: text,
    family: textOrNull,
    sealed: text,
    consumedAt: timeOrNull,
    createdAt: time,
    expiresAt: time,
  },
  options,
);
facadeSchema.index({ kind: 1, family: 1 }, { name: 'family' });
facadeSchema.index({ expiresAt: 1 }, { name: 'expiry' });

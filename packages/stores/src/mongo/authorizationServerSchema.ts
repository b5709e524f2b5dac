import { Schema } from 'mongoose';
import type { Collections } from '@behalf/gateway/ports';
import {
  schemaOptions,
  requiredText,
  nullableText,
  requiredNumber,
  nullableNumber,
  type Stored,
} from './fields.ts';

export type AuthorizationServerDoc = Stored<Collections['authorizationServer'], 'key'>;

export const authorizationServerSchema = new Schema<AuthorizationServerDoc>(
  {
    _id: requiredText,
    kind: requiredText,
    family: nullableText,
    sealed: requiredText,
    consumedAt: nullableNumber,
    createdAt: requiredNumber,
    expiresAt: requiredNumber,
  },
  schemaOptions,
);
authorizationServerSchema.index({ kind: 1, family: 1 }, { name: 'family' });
authorizationServerSchema.index({ expiresAt: 1 }, { name: 'expiry' });

import { Schema } from 'mongoose';
import type { Collections } from '@behalf/gateway/ports';
import {
  optionalText,
  schemaOptions,
  requiredText,
  requiredNumber,
  nullableNumber,
  type Stored,
} from './fields.ts';

export type OverrideDoc = Stored<Collections['overrides'], 'id'>;
export type RoleDoc = Stored<Collections['roles'], 'id'>;
export type AclDoc = Stored<Collections['acl'], 'id'>;
export type ApiKeyDoc = Stored<Collections['apiKeys'], 'id'>;
export type AuditDoc = Stored<Collections['audit'], 'id'>;

export const overrideSchema = new Schema<OverrideDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    name: requiredText,
    version: requiredNumber,
    configSealed: requiredText,
    createdAt: requiredNumber,
    updatedAt: requiredNumber,
    updatedBy: optionalText,
    securedBy: optionalText,
    securedAt: requiredNumber,
  },
  schemaOptions,
);
overrideSchema.index({ tenant: 1, name: 1 }, { name: 'override', unique: true });

export const roleSchema = new Schema<RoleDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    name: requiredText,
    description: optionalText,
    permissions: { type: Schema.Types.Mixed, required: true },
    version: requiredNumber,
    createdAt: requiredNumber,
    updatedAt: requiredNumber,
    updatedBy: optionalText,
  },
  schemaOptions,
);
roleSchema.index({ tenant: 1, name: 1 }, { name: 'role', unique: true });

export const aclSchema = new Schema<AclDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    serverId: requiredText,
    principalType: requiredText,
    principalId: optionalText,
    bits: requiredNumber,
    grantedBy: optionalText,
    grantedAt: requiredNumber,
  },
  schemaOptions,
);
aclSchema.index(
  { tenant: 1, serverId: 1, principalType: 1, principalId: 1 },
  { name: 'server', unique: true },
);
aclSchema.index({ tenant: 1, principalType: 1, principalId: 1 }, { name: 'principal' });

export const apiKeySchema = new Schema<ApiKeyDoc>(
  {
    _id: requiredText,
    hash: requiredText,
    tenant: requiredText,
    userId: requiredText,
    name: optionalText,
    hint: optionalText,
    scopes: [String],
    createdAt: requiredNumber,
    expiresAt: requiredNumber,
    lastUsedAt: nullableNumber,
  },
  schemaOptions,
);
apiKeySchema.index({ hash: 1 }, { name: 'hash', unique: true });
apiKeySchema.index({ userId: 1 }, { name: 'user' });
apiKeySchema.index({ expiresAt: 1 }, { name: 'expiry' });

export const auditSchema = new Schema<AuditDoc>(
  {
    _id: requiredText,
    writer: requiredText,
    seq: requiredNumber,
    firstAt: requiredNumber,
    lastAt: requiredNumber,
    count: requiredNumber,
    prev: optionalText,
    mac: requiredText,
    events: optionalText,
  },
  schemaOptions,
);
auditSchema.index({ writer: 1, seq: 1 }, { name: 'writer', unique: true });
auditSchema.index({ lastAt: 1, _id: 1 }, { name: 'time' });

import { Schema } from 'mongoose';
import type { Collections } from '@behalf/gateway/ports';
import { anyText, options, text, time, timeOrNull, type Stored } from './fields.ts';

export type OverrideDoc = Stored<Collections['overrides'], 'id'>;
export type RoleDoc = Stored<Collections['roles'], 'id'>;
export type AclDoc = Stored<Collections['acl'], 'id'>;
export type ApiKeyDoc = Stored<Collections['apiKeys'], 'id'>;
export type AuditDoc = Stored<Collections['audit'], 'id'>;

export const overrideSchema = new Schema<OverrideDoc>(
  {
    _id: text,
    tenant: text,
    name: text,
    version: time,
    configSealed: text,
    createdAt: time,
    updatedAt: time,
    updatedBy: anyText,
    securedBy: anyText,
    securedAt: time,
  },
  options,
);
overrideSchema.index({ tenant: 1, name: 1 }, { name: 'override', unique: true });

export const roleSchema = new Schema<RoleDoc>(
  {
    _id: text,
    tenant: text,
    name: text,
    description: anyText,
    permissions: { type: Schema.Types.Mixed, required: true },
    version: time,
    createdAt: time,
    updatedAt: time,
    updatedBy: anyText,
  },
  options,
);
roleSchema.index({ tenant: 1, name: 1 }, { name: 'role', unique: true });

export const aclSchema = new Schema<AclDoc>(
  {
    _id: text,
    tenant: text,
    serverId: text,
    principalType: text,
    principalId: anyText,
    bits: time,
    grantedBy: anyText,
    grantedAt: time,
  },
  options,
);
aclSchema.index(
  { tenant: 1, serverId: 1, principalType: 1, principalId: 1 },
  { name: 'server', unique: true },
);
aclSchema.index({ tenant: 1, principalType: 1, principalId: 1 }, { name: 'principal' });

export const apiKeySchema = new Schema<ApiKeyDoc>(
  {
    _id: text,
    hash: text,
    tenant: text,
    userId: text,
    name: anyText,
    hint: anyText,
    scopes: [String],
    createdAt: time,
    expiresAt: time,
    lastUsedAt: timeOrNull,
  },
  options,
);
apiKeySchema.index({ hash: 1 }, { name: 'hash', unique: true });
apiKeySchema.index({ userId: 1 }, { name: 'user' });
apiKeySchema.index({ expiresAt: 1 }, { name: 'expiry' });

export const auditSchema = new Schema<AuditDoc>(
  {
    _id: text,
    writer: text,
    seq: time,
    firstAt: time,
    lastAt: time,
    count: time,
    prev: anyText,
    mac: text,
    events: anyText,
  },
  options,
);
auditSchema.index({ writer: 1, seq: 1 }, { name: 'writer', unique: true });
auditSchema.index({ lastAt: 1, _id: 1 }, { name: 'time' });

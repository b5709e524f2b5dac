import type { Collections, OAuthFlowRecord } from '@behalf/gateway/ports';
import { Schema } from 'mongoose';
import {
  optionalText,
  requiredDate,
  schemaOptions,
  requiredText,
  nullableText,
  requiredNumber,
  nullableNumber,
  type Stored,
} from './fields.ts';

/** `defaultRank` stands for `isDefault`: see credentialDefaults.ts. `claimIsTakeover` is of the last claim. */
export type CredentialDoc = Omit<Stored<Collections['credentials'], 'id'>, 'isDefault'> & {
  defaultRank: number;
  claimIsTakeover?: boolean;
};
export type CredentialUsageDoc = Stored<Collections['credentialUsage'], 'id'>;
export type OAuthClientDoc = Stored<Collections['oauthClients'], 'id'>;
/** `isPending` marks the one that has its user's place at a server. */
export type OAuthFlowDoc = Stored<OAuthFlowRecord, 'id'> & { isPending?: true; deleteAt: Date };

const flag = { type: Boolean, required: true } as const;

export const credentialSchema = new Schema<CredentialDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    principal: requiredText,
    serverId: requiredText,
    kind: requiredText,
    label: optionalText,
    defaultRank: requiredNumber,
    canonicalUrl: optionalText,
    issuer: optionalText,
    clientId: optionalText,
    resource: nullableText,
    status: requiredText,
    reason: nullableText,
    statusAt: requiredNumber,
    generation: requiredNumber,
    tokenSeq: requiredNumber,
    version: requiredNumber,
    rtHash: nullableText,
    atHash: nullableText,
    sealed: nullableText,
    rtSuspect: flag,
    issuedAt: requiredNumber,
    lifetimeMs: nullableNumber,
    tokenExpiresAt: nullableNumber,
    scopesRequested: optionalText,
    scopesGranted: optionalText,
    endpoints: { type: Schema.Types.Mixed, default: null },
    claimSeq: requiredNumber,
    claimOwner: nullableText,
    claimStartedAt: nullableNumber,
    claimDeadline: nullableNumber,
    claimIsTakeover: { type: Boolean },
    expiresAt: nullableNumber,
    createdAt: requiredNumber,
    updatedAt: requiredNumber,
  },
  schemaOptions,
);
credentialSchema.index(
  { tenant: 1, principal: 1, serverId: 1, kind: 1, label: 1 },
  { name: 'credential', unique: true },
);
credentialSchema.index({ tenant: 1, serverId: 1 }, { name: 'server' });
credentialSchema.index({ expiresAt: 1 }, { name: 'expiry' });

export const credentialUsageSchema = new Schema<CredentialUsageDoc>(
  { _id: requiredText, lastUsedAt: requiredNumber, lastOutcome: optionalText, refreshes: requiredNumber },
  schemaOptions,
);
credentialUsageSchema.index({ lastUsedAt: -1, _id: 1 }, { name: 'time' });

export const oauthClientSchema = new Schema<OAuthClientDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    serverId: requiredText,
    issuer: requiredText,
    redirectUri: requiredText,
    clientId: requiredText,
    sealed: requiredText,
    createdAt: requiredNumber,
    expiresAt: nullableNumber,
  },
  schemaOptions,
);
oauthClientSchema.index({ tenant: 1, serverId: 1 }, { name: 'server' });

export const oauthFlowSchema = new Schema<OAuthFlowDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    userId: requiredText,
    serverId: requiredText,
    stateHash: nullableText,
    browserHash: nullableText,
    status: requiredText,
    error: nullableText,
    sealed: requiredText,
    createdAt: requiredNumber,
    expiresAt: requiredNumber,
    removeAt: requiredNumber,
    isPending: { type: Boolean },
    deleteAt: requiredDate,
  },
  schemaOptions,
);
oauthFlowSchema.index(
  { tenant: 1, userId: 1, serverId: 1 },
  { name: 'pending', unique: true, partialFilterExpression: { isPending: true } },
);
oauthFlowSchema.index({ tenant: 1, userId: 1 }, { name: 'user' });
oauthFlowSchema.index({ stateHash: 1 }, { name: 'state' });
oauthFlowSchema.index({ deleteAt: 1 }, { name: 'ttl', expireAfterSeconds: 60 });

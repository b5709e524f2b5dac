import type { Collections, OAuthFlowRecord } from '@behalf/gateway/ports';
import { Schema } from 'mongoose';
import { anyText, instant, options, text, textOrNull, time, timeOrNull, type Stored } from './fields.ts';

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
    _id: text,
    tenant: text,
    principal: text,
    serverId: text,
    kind: text,
    label: anyText,
    defaultRank: time,
    canonicalUrl: anyText,
    issuer: anyText,
    clientId: anyText,
    resource: textOrNull,
    status: text,
    reason: textOrNull,
    statusAt: time,
    generation: time,
    tokenSeq: time,
    version: time,
    rtHash: textOrNull,
    atHash: textOrNull,
    sealed: textOrNull,
    rtSuspect: flag,
    issuedAt: time,
    lifetimeMs: timeOrNull,
    tokenExpiresAt: timeOrNull,
    scopesRequested: anyText,
    scopesGranted: anyText,
    endpoints: { type: Schema.Types.Mixed, default: null },
    claimSeq: time,
    claimOwner: textOrNull,
    claimStartedAt: timeOrNull,
    claimDeadline: timeOrNull,
    claimIsTakeover: { type: Boolean },
    expiresAt: timeOrNull,
    createdAt: time,
    updatedAt: time,
  },
  options,
);
credentialSchema.index(
  { tenant: 1, principal: 1, serverId: 1, kind: 1, label: 1 },
  { name: 'credential', unique: true },
);
credentialSchema.index({ tenant: 1, serverId: 1 }, { name: 'server' });
credentialSchema.index({ expiresAt: 1 }, { name: 'expiry' });

export const credentialUsageSchema = new Schema<CredentialUsageDoc>(
  { _id: text, lastUsedAt: time, lastOutcome: anyText, refreshes: time },
  options,
);
credentialUsageSchema.index({ lastUsedAt: -1, _id: 1 }, { name: 'time' });

export const oauthClientSchema = new Schema<OAuthClientDoc>(
  {
    _id: text,
    tenant: text,
    serverId: text,
    issuer: text,
    redirectUri: text,
    clientId: text,
    sealed: text,
    createdAt: time,
    expiresAt: timeOrNull,
  },
  options,
);
oauthClientSchema.index({ tenant: 1, serverId: 1 }, { name: 'server' });

export const oauthFlowSchema = new Schema<OAuthFlowDoc>(
  {
    _id: text,
    tenant: text,
    userId: text,
    serverId: text,
    stateHash: textOrNull,
    browserHash: textOrNull,
    status: text,
    error: textOrNull,
    sealed: text,
    createdAt: time,
    expiresAt: time,
    removeAt: time,
    isPending: { type: Boolean },
    deleteAt: instant,
  },
  options,
);
oauthFlowSchema.index(
  { tenant: 1, userId: 1, serverId: 1 },
  { name: 'pending', unique: true, partialFilterExpression: { isPending: true } },
);
oauthFlowSchema.index({ tenant: 1, userId: 1 }, { name: 'user' });
oauthFlowSchema.index({ stateHash: 1 }, { name: 'state' });
oauthFlowSchema.index({ deleteAt: 1 }, { name: 'ttl', expireAfterSeconds: 60 });

import type { Collections, OAuthFlowRecord } from '@behalf/gateway/ports';
import { Schema } from 'mongoose';

/** A record as stored in MongoDB: `_id` replaces its key field. */
export type Stored<R, K extends keyof R> = Omit<R, K> & { _id: string };

export const requiredText = { type: String, required: true } as const;
/** Mongoose treats an empty string as missing, but an empty name is valid. */
export const optionalText = { type: String, default: '' } as const;
const nullableText = { type: String, default: null } as const;
export const requiredNumber = { type: Number, required: true } as const;
export const nullableNumber = { type: Number, default: null } as const;
export const requiredDate = { type: Date, required: true } as const;

/** An unknown field is a programming error: it throws instead of being dropped. */
export const schemaOptions = {
  strict: 'throw',
  strictQuery: 'throw',
  versionKey: false,
  minimize: false,
} as const;

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

/** `defaultRank` replaces `isDefault`; see credentials.ts. `claimIsTakeover` belongs to the last claim. */
export type CredentialDoc = Omit<Stored<Collections['credentials'], 'id'>, 'isDefault'> & {
  defaultRank: number;
  claimIsTakeover?: boolean;
};
export type CredentialUsageDoc = Stored<Collections['credentialUsage'], 'id'>;
export type OAuthClientDoc = Stored<Collections['oauthClients'], 'id'>;
/** `isPending` marks the one pending flow of a user at a server. */
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
// No TTL index: grants of a draft are revoked before the draft is removed.
draftSchema.index({ expiresAt: 1 }, { name: 'sweep' });

export type ConversationDoc = Stored<Collections['conversations'], 'id'>;
export type ChatMessageDoc = Stored<Collections['chatMessages'], 'id'>;

export const conversationSchema = new Schema<ConversationDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    userId: requiredText,
    sealed: requiredText,
    createdAt: requiredNumber,
    updatedAt: requiredNumber,
  },
  schemaOptions,
);
conversationSchema.index({ tenant: 1, userId: 1, updatedAt: 1, _id: 1 }, { name: 'user' });

export const chatMessageSchema = new Schema<ChatMessageDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    userId: requiredText,
    conversationId: requiredText,
    seq: requiredNumber,
    size: requiredNumber,
    sealed: requiredText,
    createdAt: requiredNumber,
  },
  schemaOptions,
);
chatMessageSchema.index({ tenant: 1, userId: 1, conversationId: 1, seq: 1 }, { name: 'place', unique: true });

export type BlockDoc = Stored<Collections['blocks'], 'id'>;

export const blockSchema = new Schema<BlockDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    owner: requiredText,
    serverId: requiredText,
    tool: requiredText,
    version: requiredNumber,
    sealed: requiredText,
    createdAt: requiredNumber,
    updatedAt: requiredNumber,
    updatedBy: requiredText,
  },
  schemaOptions,
);
blockSchema.index({ tenant: 1, owner: 1 }, { name: 'owner' });

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

import { Schema, type Connection, type Model } from 'mongoose';
import type { ChangeTopic, Collections } from '@behalf/gateway/ports';
import type { LeasePurpose } from '@behalf/kernel';
import {
  type AclDoc,
  type ApiKeyDoc,
  type AuditDoc,
  type AuthorizationServerDoc,
  type BlockDoc,
  type ChatMessageDoc,
  type ConversationDoc,
  type CredentialDoc,
  type CredentialUsageDoc,
  type DraftDoc,
  type OAuthClientDoc,
  type OAuthFlowDoc,
  type OverrideDoc,
  type RoleDoc,
  type RunDoc,
  type SetDoc,
  type Stored,
  aclSchema,
  apiKeySchema,
  auditSchema,
  authorizationServerSchema,
  blockSchema,
  chatMessageSchema,
  conversationSchema,
  credentialSchema,
  credentialUsageSchema,
  draftSchema,
  nullableNumber,
  oauthClientSchema,
  oauthFlowSchema,
  optionalText,
  overrideSchema,
  requiredDate,
  requiredNumber,
  requiredText,
  roleSchema,
  runSchema,
  schemaOptions,
  setSchema,
} from './schemas.ts';

/** `isFirst` marks the one document that can start an empty store; see accounts.ts. */
export type UserDoc = Stored<Collections['users'], 'id'> & { isFirst?: true };
type SessionDoc = Stored<Collections['sessions'], 'hash'>;
type TicketDoc = Stored<Collections['tickets'], 'hash'>;
export type SystemDoc = Stored<Collections['system'], 'name'>;
export type VariableDoc = Stored<Collections['variables'], 'id'>;
export type ServerDoc = Stored<Collections['servers'], 'id'>;
/** ID of the only document in the state collection. */
export const STATE_ID = 'store';
export interface StoreStateDoc {
  _id: string;
  /** Absent in databases of earlier previews. */
  format?: number;
  writers: { id: string; expiresAt: Date }[];
  maintenance?: { owner: string; expiresAt: Date; isExtension: boolean };
  identity?: string;
  copySource?: string;
}
export interface LeaseDoc {
  _id: string;
  owner: string;
  purpose: LeasePurpose;
  expiresAt: Date;
}
export interface AttemptDoc {
  _id: string;
  count: number;
  resetAt: Date;
}
export interface TopicRevisionDoc {
  _id: ChangeTopic;
  revision: number;
}
export interface CacheDoc {
  _id: string;
  namespace: string;
  value: string;
  expiresAt: Date;
}

export interface Models {
  users: Model<UserDoc>;
  sessions: Model<SessionDoc>;
  tickets: Model<TicketDoc>;
  system: Model<SystemDoc>;
  variables: Model<VariableDoc>;
  servers: Model<ServerDoc>;
  overrides: Model<OverrideDoc>;
  roles: Model<RoleDoc>;
  acl: Model<AclDoc>;
  apiKeys: Model<ApiKeyDoc>;
  credentials: Model<CredentialDoc>;
  credentialUsage: Model<CredentialUsageDoc>;
  oauthClients: Model<OAuthClientDoc>;
  oauthFlows: Model<OAuthFlowDoc>;
  drafts: Model<DraftDoc>;
  conversations: Model<ConversationDoc>;
  chatMessages: Model<ChatMessageDoc>;
  blocks: Model<BlockDoc>;
  sets: Model<SetDoc>;
  runs: Model<RunDoc>;
  authorizationServer: Model<AuthorizationServerDoc>;
  audit: Model<AuditDoc>;
  storeState: Model<StoreStateDoc>;
  leases: Model<LeaseDoc>;
  attempts: Model<AttemptDoc>;
  topicRevisions: Model<TopicRevisionDoc>;
  cache: Model<CacheDoc>;
}

const userSchema = new Schema<UserDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    issuer: requiredText,
    subject: requiredText,
    email: optionalText,
    name: optionalText,
    role: requiredText,
    roleSource: requiredText,
    roleConfirmedAt: nullableNumber,
    disabledAt: nullableNumber,
    signedOutAt: nullableNumber,
    passwordSealed: { type: String, default: null },
    createdAt: requiredNumber,
    updatedAt: requiredNumber,
    isFirst: { type: Boolean },
  },
  schemaOptions,
);
userSchema.index({ tenant: 1, issuer: 1, subject: 1 }, { name: 'identity', unique: true });
userSchema.index(
  { isFirst: 1 },
  { name: 'isFirst', unique: true, partialFilterExpression: { isFirst: true } },
);
userSchema.index({ tenant: 1, _id: 1 }, { name: 'tenant' });
userSchema.index({ tenant: 1, role: 1 }, { name: 'role' });
userSchema.index({ signedOutAt: 1 }, { name: 'signedOut' });

const sessionSchema = new Schema<SessionDoc>(
  {
    _id: requiredText,
    userId: requiredText,
    tenant: requiredText,
    via: requiredText,
    groups: [String],
    grant: {
      type: new Schema({ clientId: requiredText, from: optionalText }, { _id: false }),
      default: null,
    },
    createdAt: requiredNumber,
    expiresAt: requiredNumber,
  },
  schemaOptions,
);
sessionSchema.index({ userId: 1 }, { name: 'user' });
sessionSchema.index({ expiresAt: 1 }, { name: 'expiry' });

const ticketSchema = new Schema<TicketDoc>(
  {
    _id: requiredText,
    kind: requiredText,
    createdAt: requiredNumber,
    expiresAt: requiredNumber,
    consumedAt: nullableNumber,
  },
  schemaOptions,
);

const systemSchema = new Schema<SystemDoc>({ _id: requiredText, value: requiredText }, schemaOptions);

const variableSchema = new Schema<VariableDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    userId: requiredText,
    serverId: requiredText,
    name: requiredText,
    valueSealed: requiredText,
    updatedAt: requiredNumber,
  },
  schemaOptions,
);
variableSchema.index({ tenant: 1, userId: 1, serverId: 1, name: 1 }, { name: 'key', unique: true });
variableSchema.index({ tenant: 1, serverId: 1 }, { name: 'server' });

const serverSchema = new Schema<ServerDoc>(
  {
    _id: requiredText,
    tenant: requiredText,
    name: requiredText,
    normalizedName: requiredText,
    author: requiredText,
    version: requiredNumber,
    configSealed: requiredText,
    createdAt: requiredNumber,
    updatedAt: requiredNumber,
    updatedBy: requiredText,
    securedBy: optionalText,
    securedAt: requiredNumber,
    securedHash: optionalText,
  },
  schemaOptions,
);
serverSchema.index({ tenant: 1, name: 1 }, { name: 'name', unique: true });
serverSchema.index({ tenant: 1, normalizedName: 1 }, { name: 'normalized', unique: true });

const storeStateSchema = new Schema<StoreStateDoc>(
  {
    _id: requiredText,
    format: requiredNumber,
    writers: [new Schema({ id: requiredText, expiresAt: requiredDate }, { _id: false })],
    maintenance: {
      type: new Schema(
        { owner: requiredText, expiresAt: requiredDate, isExtension: { type: Boolean } },
        { _id: false },
      ),
    },
    identity: { type: String },
    copySource: { type: String },
  },
  schemaOptions,
);

// TTL indexes remove expired documents. Every query checks the expiry itself.
const leaseSchema = new Schema<LeaseDoc>(
  { _id: requiredText, owner: requiredText, purpose: requiredText, expiresAt: requiredDate },
  schemaOptions,
);
leaseSchema.index({ expiresAt: 1 }, { name: 'ttl', expireAfterSeconds: 60 });

const attemptSchema = new Schema<AttemptDoc>(
  { _id: requiredText, count: requiredNumber, resetAt: requiredDate },
  schemaOptions,
);
attemptSchema.index({ resetAt: 1 }, { name: 'ttl', expireAfterSeconds: 60 });

const topicRevisionSchema = new Schema<TopicRevisionDoc>(
  { _id: requiredText, revision: requiredNumber },
  schemaOptions,
);

const cacheSchema = new Schema<CacheDoc>(
  { _id: requiredText, namespace: requiredText, value: optionalText, expiresAt: requiredDate },
  schemaOptions,
);
cacheSchema.index({ namespace: 1 }, { name: 'namespace' });
cacheSchema.index({ expiresAt: 1 }, { name: 'ttl', expireAfterSeconds: 0 });

/** The prefix avoids collisions with the `users` and `sessions` of a chat platform in the same database. */
export function defineModels(connection: Connection): Models {
  const define = <D>(name: string, schema: Schema<D>): Model<D> =>
    connection.model<D>(name, schema, `behalf_${name}`);
  return {
    users: define('users', userSchema),
    sessions: define('sessions', sessionSchema),
    tickets: define('tickets', ticketSchema),
    system: define('system', systemSchema),
    variables: define('variables', variableSchema),
    servers: define('servers', serverSchema),
    overrides: define('overrides', overrideSchema),
    roles: define('roles', roleSchema),
    acl: define('acl', aclSchema),
    apiKeys: define('apiKeys', apiKeySchema),
    credentials: define('credentials', credentialSchema),
    credentialUsage: define('credentialUsage', credentialUsageSchema),
    oauthClients: define('oauthClients', oauthClientSchema),
    oauthFlows: define('oauthFlows', oauthFlowSchema),
    drafts: define('drafts', draftSchema),
    conversations: define('conversations', conversationSchema),
    chatMessages: define('chatMessages', chatMessageSchema),
    blocks: define('blocks', blockSchema),
    sets: define('sets', setSchema),
    runs: define('runs', runSchema),
    authorizationServer: define('authorizationServer', authorizationServerSchema),
    audit: define('audit', auditSchema),
    storeState: define('storeState', storeStateSchema),
    leases: define('leases', leaseSchema),
    attempts: define('attempts', attemptSchema),
    topicRevisions: define('topicRevisions', topicRevisionSchema),
    cache: define('cache', cacheSchema),
  };
}

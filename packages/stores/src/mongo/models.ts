import { Schema, type Connection, type Model } from 'mongoose';
import type { ChangeTopic, Collections } from '@behalf/gateway/ports';
import type { LeasePurpose } from '@behalf/kernel';
import {
  aclSchema,
  apiKeySchema,
  auditSchema,
  overrideSchema,
  roleSchema,
  type AclDoc,
  type ApiKeyDoc,
  type AuditDoc,
  type OverrideDoc,
  type RoleDoc,
} from './accessSchemas.ts';
import { blockSchema, type BlockDoc } from './blockSchema.ts';
import { draftSchema, type DraftDoc } from './draftSchema.ts';
import {
  chatMessageSchema,
  conversationSchema,
  type ChatMessageDoc,
  type ConversationDoc,
} from './chatSchemas.ts';
import { facadeSchema, type FacadeDoc } from './facadeSchema.ts';
import { anyText, instant, options, text, time, timeOrNull, type Stored } from './fields.ts';
import { runSchema, setSchema, type RunDoc, type SetDoc } from './setSchemas.ts';
import {
  credentialSchema,
  credentialUsageSchema,
  oauthClientSchema,
  oauthFlowSchema,
  type CredentialDoc,
  type CredentialUsageDoc,
  type OAuthClientDoc,
  type OAuthFlowDoc,
} from './vaultSchemas.ts';

/** `isFirst` marks the one document that may begin an empty store; see users.ts. */
export type UserDoc = Stored<Collections['users'], 'id'> & { isFirst?: true };
export type SessionDoc = Stored<Collections['sessions'], 'hash'>;
export type TicketDoc = Stored<Collections['tickets'], 'hash'>;
export type SystemDoc = Stored<Collections['system'], 'name'>;
export type VariableDoc = Stored<Collections['variables'], 'id'>;
export type ServerDoc = Stored<Collections['servers'], 'id'>;
/** The one document of the state collection. */
export const STATE_ID = 'store';
export interface StateDoc {
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
export interface RevisionDoc {
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
  authorizationServer: Model<FacadeDoc>;
  audit: Model<AuditDoc>;
  storeState: Model<StateDoc>;
  leases: Model<LeaseDoc>;
  attempts: Model<AttemptDoc>;
  topicRevisions: Model<RevisionDoc>;
  cache: Model<CacheDoc>;
}

const userSchema = new Schema<UserDoc>(
  {
    _id: text,
    tenant: text,
    issuer: text,
    subject: text,
    email: anyText,
    name: anyText,
    role: text,
    roleSource: text,
    roleConfirmedAt: timeOrNull,
    disabledAt: timeOrNull,
    signedOutAt: timeOrNull,
    passwordSealed: { type: String, default: null },
    createdAt: time,
    updatedAt: time,
    isFirst: { type: Boolean },
  },
  options,
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
    _id: text,
    userId: text,
    tenant: text,
    via: text,
    groups: [String],
    grant: { type: new Schema({ clientId: text, from: anyText }, { _id: false }), default: null },
    createdAt: time,
    expiresAt: time,
  },
  options,
);
sessionSchema.index({ userId: 1 }, { name: 'user' });
sessionSchema.index({ expiresAt: 1 }, { name: 'expiry' });

const ticketSchema = new Schema<TicketDoc>(
  { _id: text, kind: text, createdAt: time, expiresAt: time, consumedAt: timeOrNull },
  options,
);

const systemSchema = new Schema<SystemDoc>({ _id: text, value: text }, options);

const variableSchema = new Schema<VariableDoc>(
  {
    _id: text,
    tenant: text,
    userId: text,
    serverId: text,
    name: text,
    valueSealed: text,
    updatedAt: time,
  },
  options,
);
variableSchema.index({ tenant: 1, userId: 1, serverId: 1, name: 1 }, { name: 'key', unique: true });
variableSchema.index({ tenant: 1, serverId: 1 }, { name: 'server' });

const serverSchema = new Schema<ServerDoc>(
  {
    _id: text,
    tenant: text,
    name: text,
    normalizedName: text,
    author: text,
    version: time,
    configSealed: text,
    createdAt: time,
    updatedAt: time,
    updatedBy: text,
    securedBy: anyText,
    securedAt: time,
    securedHash: anyText,
  },
  options,
);
serverSchema.index({ tenant: 1, name: 1 }, { name: 'name', unique: true });
serverSchema.index({ tenant: 1, normalizedName: 1 }, { name: 'normalized', unique: true });

const stateSchema = new Schema<StateDoc>(
  {
    _id: text,
    format: time,
    writers: [new Schema({ id: text, expiresAt: instant }, { _id: false })],
    maintenance: {
      type: new Schema({ owner: text, expiresAt: instant, isExtension: { type: Boolean } }, { _id: false }),
    },
    identity: { type: String },
    copySource: { type: String },
  },
  options,
);

// MongoDB sweeps what these indexes say is over; whether it is over, each query judges for itself.
const leaseSchema = new Schema<LeaseDoc>(
  { _id: text, owner: text, purpose: text, expiresAt: instant },
  options,
);
leaseSchema.index({ expiresAt: 1 }, { name: 'ttl', expireAfterSeconds: 60 });

const attemptSchema = new Schema<AttemptDoc>({ _id: text, count: time, resetAt: instant }, options);
attemptSchema.index({ resetAt: 1 }, { name: 'ttl', expireAfterSeconds: 60 });

const revisionSchema = new Schema<RevisionDoc>({ _id: text, revision: time }, options);

const cacheSchema = new Schema<CacheDoc>(
  { _id: text, namespace: text, value: anyText, expiresAt: instant },
  options,
);
cacheSchema.index({ namespace: 1 }, { name: 'namespace' });
cacheSchema.index({ expiresAt: 1 }, { name: 'ttl', expireAfterSeconds: 0 });

/** The prefix keeps us apart from a chat platform that has its own `users` and `sessions` in the same database. */
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
    authorizationServer: define('authorizationServer', facadeSchema),
    audit: define('audit', auditSchema),
    storeState: define('storeState', stateSchema),
    leases: define('leases', leaseSchema),
    attempts: define('attempts', attemptSchema),
    topicRevisions: define('topicRevisions', revisionSchema),
    cache: define('cache', cacheSchema),
  };
}

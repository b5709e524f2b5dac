import type { SealContext } from '@behalf/kernel';

/** `created` -> `opened` (the browser left for the authorization server) -> `exchanging` -> one of the rest. */
export type FlowStatus =
  'created' | 'opened' | 'exchanging' | 'approved' | 'failed' | 'cancelled' | 'expired';

export const pendingStatuses: readonly FlowStatus[] = ['created', 'opened', 'exchanging'];

/** One attempt of one user to sign in at a server. The callback may land on any replica. */
export interface OAuthFlowRecord {
  /** Opaque; in addresses, so it is no secret and proves nothing. */
  id: string;
  tenant: string;
  userId: string;
  serverId: string;
  /** SHA-256 of the `state`; a new one each time the browser leaves. */
  stateHash: string | null;
  /** SHA-256 of what the cookie of the browser that left holds. */
  browserHash: string | null;
  status: FlowStatus;
  /** Why it failed, in a word of a fixed list. */
  error: string | null;
  /** Everything else of it, sealed: verifier, endpoints, client, scopes. No token. */
  sealed: string;
  createdAt: number;
  /** Pending until then. */
  expiresAt: number;
  /** Told about until then. */
  removeAt: number;
}

export interface FlowLimits {
  readonly perUser: number;
  readonly perTenant: number;
}

export type FlowInsertResult =
  | { readonly kind: 'inserted' }
  /** One of this user at this server is pending already. */
  | { readonly kind: 'pending'; readonly flow: OAuthFlowRecord }
  | { readonly kind: 'too_many'; readonly retryAt: number };

export interface FlowCondition {
  readonly status: readonly FlowStatus[];
  readonly stateHash?: string;
  readonly browserHash?: string;
  readonly userId?: string;
  /** Not past its end at this time. */
  readonly now?: number;
}

export interface OAuthFlowStore {
  /** One step for all processes: at most one pending flow for each (tenant, user, server), and the caps hold. */
  insert(flow: OAuthFlowRecord, limits: FlowLimits, now: number): Promise<FlowInsertResult>;
  /** When there will be a place for one more of this user; null: there is one. A look: `insert` decides. */
  getRetryAt(tenant: string, userId: string, limits: FlowLimits, now: number): Promise<number | null>;
  find(id: string): Promise<OAuthFlowRecord | null>;
  findByState(stateHash: string): Promise<OAuthFlowRecord | null>;
  /** The pending one of a user at a server. */
  findPending(tenant: string, userId: string, serverId: string, now: number): Promise<OAuthFlowRecord | null>;
  /** One step for all processes: null where the condition does not hold. */
  transition(
    id: string,
    condition: FlowCondition,
    patch: Partial<
      Pick<OAuthFlowRecord, 'status' | 'error' | 'stateHash' | 'browserHash' | 'sealed' | 'expiresAt'>
    >,
  ): Promise<OAuthFlowRecord | null>;
  /** Of a user, at one server or at all: they disconnected or left. How many. */
  removeByUser(tenant: string, userId: string, serverId?: string): Promise<number>;
  /** Of all users: the server is gone. How many. */
  removeByServer(tenant: string, serverId: string): Promise<number>;
  removeExpired(now: number): Promise<number>;
}

export function toFlowSealContext({
  tenant,
  userId,
  serverId,
  id,
}: Pick<OAuthFlowRecord, 'tenant' | 'userId' | 'serverId' | 'id'>): SealContext {
  return {
    tenant,
    principal: `user:${userId}`,
    server: serverId,
    kind: 'oauth-flow',
    field: 'payload',
    binding: [id],
  };
}

/** A client that an authorization server registered for one server (RFC 7591). */
export interface OAuthClientRecord {
  /** Made by `oauthClientId`. */
  id: string;
  tenant: string;
  serverId: string;
  issuer: string;
  redirectUri: string;
  clientId: string;
  /** The rest of the registration, the secret too, as JSON. */
  sealed: string;
  createdAt: number;
  expiresAt: number | null;
}

export type OAuthClientKey = Pick<OAuthClientRecord, 'tenant' | 'serverId' | 'issuer' | 'redirectUri'>;

export interface OAuthClientStore {
  /** The one that counts: of two that register at once, the first. */
  insert(client: OAuthClientRecord): Promise<OAuthClientRecord>;
  find(key: OAuthClientKey): Promise<OAuthClientRecord | null>;
  /** Puts it in the place of the one with this client id, as one step; false where that is not there any more. */
  replace(client: OAuthClientRecord, clientId: string): Promise<boolean>;
  /** Only the one with this client id: another has taken its place meanwhile. */
  remove(key: OAuthClientKey, clientId: string): Promise<boolean>;
  removeByServer(tenant: string, serverId: string): Promise<number>;
}

export function oauthClientId({ tenant, serverId, issuer, redirectUri }: OAuthClientKey): string {
  return JSON.stringify([tenant, serverId, issuer, redirectUri]);
}

export function toOAuthClientSealContext({
  tenant,
  serverId,
  issuer,
  redirectUri,
  clientId,
}: OAuthClientKey & Pick<OAuthClientRecord, 'clientId'>): SealContext {
  return {
    tenant,
    principal: '-',
    server: serverId,
    kind: 'oauth-client',
    field: 'registration',
    binding: [issuer, redirectUri, clientId],
  };
}

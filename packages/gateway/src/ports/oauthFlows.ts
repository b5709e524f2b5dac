import type { SealContext } from '@behalf/kernel';

/** `created` -> `opened` (the browser went to the authorization server) -> `exchanging` -> a final status. */
export type FlowStatus =
  'created' | 'opened' | 'exchanging' | 'approved' | 'failed' | 'cancelled' | 'expired';

export const pendingStatuses: readonly FlowStatus[] = ['created', 'opened', 'exchanging'];

/** One attempt of one user to sign in at a server. Any replica can receive the callback. */
export interface OAuthFlowRecord {
  /** Appears in URLs. It is not a secret and proves nothing. */
  id: string;
  tenant: string;
  userId: string;
  serverId: string;
  /** SHA-256 of `state`, which is new each time the browser goes to the authorization server. */
  stateHash: string | null;
  /** SHA-256 of the cookie value of the browser that opened the flow. */
  browserHash: string | null;
  status: FlowStatus;
  /** The reason for a failure, from a fixed list. */
  error: string | null;
  /** The other data of the flow, encrypted: PKCE verifier, endpoints, client, scopes. No token. */
  sealed: string;
  createdAt: number;
  /** When a pending flow expires. */
  expiresAt: number;
  /** When the record is deleted. Until then its status can be queried. */
  removeAt: number;
}

export interface FlowLimits {
  readonly perUser: number;
  readonly perTenant: number;
}

export type FlowInsertResult =
  | { readonly kind: 'inserted' }
  /** The user already has a pending flow at this server. */
  | { readonly kind: 'pending'; readonly flow: OAuthFlowRecord }
  | { readonly kind: 'too_many'; readonly retryAt: number };

export interface FlowCondition {
  readonly status: readonly FlowStatus[];
  readonly stateHash?: string;
  readonly browserHash?: string;
  readonly userId?: string;
  /** The flow must not have expired at this time. */
  readonly now?: number;
}

export interface OAuthFlowStore {
  /** Atomic across replicas: at most one pending flow per (tenant, user, server), and the limits hold. */
  insert(flow: OAuthFlowRecord, limits: FlowLimits, now: number): Promise<FlowInsertResult>;
  /** When this user can start another flow; null: now. A hint only: `insert` decides. */
  getRetryAt(tenant: string, userId: string, limits: FlowLimits, now: number): Promise<number | null>;
  find(id: string): Promise<OAuthFlowRecord | null>;
  findByState(stateHash: string): Promise<OAuthFlowRecord | null>;
  /** The pending flow of a user at a server. */
  findPending(tenant: string, userId: string, serverId: string, now: number): Promise<OAuthFlowRecord | null>;
  /** Compare-and-set: null if the condition does not hold. */
  transition(
    id: string,
    condition: FlowCondition,
    patch: Partial<
      Pick<OAuthFlowRecord, 'status' | 'error' | 'stateHash' | 'browserHash' | 'sealed' | 'expiresAt'>
    >,
  ): Promise<OAuthFlowRecord | null>;
  /** Removes a user's flows at one server or all servers. Returns their number. */
  removeByUser(tenant: string, userId: string, serverId?: string): Promise<number>;
  /** Removes the flows of all users at a server. Returns their number. */
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
  /** From `oauthClientId`. */
  id: string;
  tenant: string;
  serverId: string;
  issuer: string;
  redirectUri: string;
  clientId: string;
  /** The other registration data including the client secret, as encrypted JSON. */
  sealed: string;
  createdAt: number;
  expiresAt: number | null;
}

export type OAuthClientKey = Pick<OAuthClientRecord, 'tenant' | 'serverId' | 'issuer' | 'redirectUri'>;

export interface OAuthClientStore {
  /** Returns the stored client: if two replicas register at once, the first one. */
  insert(client: OAuthClientRecord): Promise<OAuthClientRecord>;
  find(key: OAuthClientKey): Promise<OAuthClientRecord | null>;
  /** Compare-and-set: replaces the client with this client ID; false if another client is stored now. */
  replace(client: OAuthClientRecord, clientId: string): Promise<boolean>;
  /** Removes the client only if it still has this client ID. */
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

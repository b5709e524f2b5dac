import type { SealContext } from '@behalf/kernel';

/**
 * - `login`: the tokens of a sign-in at the identity provider.
 * - `oauth_code`: a user's OAuth grant at a server.
 * - `client_credentials`: the gateway's own token for a shared server.
 * - `static`: a token that a user entered.
 */
export const credentialKinds = ['login', 'oauth_code', 'client_credentials', 'static'] as const;
export type CredentialKind = (typeof credentialKinds)[number];

/**
 * - `active`: may be presented and refreshed.
 * - `rejected`: the refresh token is invalid; the access token may still be valid.
 * - `revoked`: disconnected by the user. The tokens are deleted; the generation remains.
 * - `unreadable`: the tokens cannot be decrypted.
 * - `unbound`: issued for another URL, issuer or client than the server has now.
 */
export type CredentialStatus = 'active' | 'rejected' | 'revoked' | 'unreadable' | 'unbound';

/** Where the tokens are refreshed and revoked, as validated at sign-in. */
export interface CredentialEndpoints {
  readonly token: string;
  readonly revocation: string | null;
  readonly authorization: string | null;
  /** When the authorization server metadata was fetched. */
  readonly fetchedAt: number;
  /** The client authentication method, as the metadata allowed it. */
  readonly clientAuth?: ClientAuthMethod;
}

type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

/** A stored credential. Unique by (tenant, principal, serverId, kind, label). */
export interface CredentialRecord {
  /** From `credentialId`. Never changes. */
  id: string;
  tenant: string;
  /** `user:<id>`, or `@app` for a shared server. */
  principal: string;
  /** The server ID; `@login` for the tokens of a sign-in at the identity provider. */
  serverId: string;
  kind: CredentialKind;
  /** The session hash of a login; otherwise the name that the user chose, by default `default`. */
  label: string;
  /** Used if the call names no label. One per (tenant, principal, server). */
  isDefault: boolean;

  /** The URL, issuer and resource of the tokens. If the server's value changes, the credential becomes `unbound`. */
  canonicalUrl: string;
  issuer: string;
  clientId: string;
  /** The RFC 8707 resource of the token request; null if none was sent. */
  resource: string | null;

  status: CredentialStatus;
  /** The reason for the status, from a fixed list. */
  reason: string | null;
  /** When the status changed. */
  statusAt: number;

  /** Incremented by each sign-in, import and disconnect. A write of an older generation always fails. */
  generation: number;
  /** Incremented by each stored token pair within a generation. */
  tokenSeq: number;
  /** Incremented by each write. For observers; never a condition of a token write. */
  version: number;
  /** Keyed hashes of the current tokens, to compare tokens without decrypting them. Null without a token. */
  rtHash: string | null;
  atHash: string | null;
  /** The encrypted tokens. Null after they were deleted. */
  sealed: string | null;
  /**
   * The response of the last refresh may have been lost, so the refresh token may already be used up (refresh token
   * rotation, RFC 9700 section 4.14).
   */
  rtSuspect: boolean;

  /** When the token request was sent. */
  issuedAt: number;
  /** `expires_in` of the token response; null if absent. */
  lifetimeMs: number | null;
  /** When the access token expires: `issuedAt` plus its lifetime. Null: unknown. */
  tokenExpiresAt: number | null;
  /** Separated by spaces, sorted. */
  scopesRequested: string;
  scopesGranted: string;
  endpoints: CredentialEndpoints | null;

  /** Fencing token: incremented by each claim, never reset. */
  claimSeq: number;
  /** The replica that is refreshing the tokens; null if none. */
  claimOwner: string | null;
  claimStartedAt: number | null;
  claimDeadline: number | null;

  /** When the row is deleted: with the session of a login, or some time after a disconnect. */
  expiresAt: number | null;
  createdAt: number;
  updatedAt: number;
}

export type CredentialKey = Pick<CredentialRecord, 'tenant' | 'principal' | 'serverId' | 'kind' | 'label'>;

/**
 * The condition of a write. All present fields must match. `claimSeq` also requires that the claim is not settled
 * yet.
 */
export interface CredentialCondition {
  readonly generation: number;
  readonly rtHash?: string | null;
  readonly tokenSeq?: number;
  readonly claimSeq?: number;
}

/** The fields that a write may change. The store increments `version` and sets `updatedAt` itself. */
export type CredentialPatch = Partial<
  Omit<
    CredentialRecord,
    keyof CredentialKey | 'id' | 'version' | 'updatedAt' | 'createdAt' | 'isDefault' | 'claimSeq'
  >
>;

export interface ClaimRequest {
  readonly generation: number;
  /** Hash of the refresh token that the claim is for. */
  readonly rtHash: string;
  /**
   * Of the token pair that the claim is for. If the provider does not rotate refresh tokens, only this shows that
   * another replica refreshed first.
   */
  readonly tokenSeq: number;
  readonly owner: string;
  readonly ttlMs: number;
}

/**
 * `record` includes the claim. `tookOver`: an earlier claim expired without being settled, so the outcome of its
 * refresh is unknown.
 */
export interface CredentialClaim {
  readonly record: CredentialRecord;
  readonly tookOver: boolean;
}

export interface CredentialStore {
  /** False if the key exists. The first credential of a server becomes the default. */
  insert(credential: CredentialRecord): Promise<boolean>;
  find(key: CredentialKey): Promise<CredentialRecord | null>;
  findById(id: string): Promise<CredentialRecord | null>;
  /** The credentials of one principal, for one server or all, ordered by server, kind and label. */
  list(tenant: string, principal: string, serverId?: string): Promise<CredentialRecord[]>;
  /** The credentials of all principals at a server, up to `limit`, ordered by ID. */
  listKeysByServer(tenant: string, serverId: string, limit: number): Promise<CredentialKey[]>;
  /**
   * Compare-and-set: applies the patch if the condition holds and returns the new record; otherwise null. A patch
   * with `claimOwner: null` settles the claim.
   */
  replace(
    id: string,
    condition: CredentialCondition,
    patch: CredentialPatch,
  ): Promise<CredentialRecord | null>;
  /**
   * Claims the right to use the refresh token. Succeeds if `generation`, `tokenSeq` and `rtHash` match, the status
   * is `active`, and there is no claim or its deadline has passed. Deadlines use the clock of the store, not of the
   * replica.
   */
  claim(id: string, request: ClaimRequest): Promise<CredentialClaim | null>;
  /** Extends a claim that the owner still holds. */
  extendClaim(id: string, claimSeq: number, owner: string, ttlMs: number): Promise<boolean>;
  /** False if the credential does not exist. */
  makeDefault(id: string): Promise<boolean>;
  /** False if it did not exist. */
  remove(key: CredentialKey): Promise<boolean>;
  /** Returns the number of removed credentials. */
  removeByPrincipal(tenant: string, principal: string): Promise<number>;
  /** Removes the credentials of all principals, when the server is deleted. */
  removeByServer(tenant: string, serverId: string): Promise<number>;
  /** Removes credentials whose `expiresAt` has passed. */
  removeExpired(now: number): Promise<number>;
  /** The clock of the store, by which deadlines are evaluated. */
  now(): Promise<number>;
}

/** Fields that change with every use. In a separate row, so that they do not conflict with token writes. */
export interface CredentialUsageRecord {
  /** The ID of the credential. */
  id: string;
  lastUsedAt: number;
  lastOutcome: string;
  refreshes: number;
}

export interface CredentialUsageStore {
  put(usage: CredentialUsageRecord): Promise<void>;
  find(id: string): Promise<CredentialUsageRecord | null>;
  /** Credentials used since then, the last used first, up to `limit`. */
  listUsedSince(since: number, limit: number): Promise<CredentialUsageRecord[]>;
  remove(id: string): Promise<boolean>;
}

/** Extracts the key fields. */
export function credentialKey({ tenant, principal, serverId, kind, label }: CredentialKey): CredentialKey {
  return { tenant, principal, serverId, kind, label };
}

/** A JSON tuple, so that different keys never have the same ID. */
export function credentialId({ tenant, principal, serverId, kind, label }: CredentialKey): string {
  return JSON.stringify([tenant, principal, serverId, kind, label]);
}

/**
 * Binds the tokens to the whole key and to everything they were issued for. Tokens copied to a row with another
 * user, server, URL, issuer, client or generation fail to decrypt.
 */
export function toCredentialSealContext(
  credential: CredentialKey &
    Pick<CredentialRecord, 'canonicalUrl' | 'issuer' | 'clientId' | 'generation' | 'tokenSeq'>,
): SealContext {
  const { tenant, principal, serverId, kind, label, canonicalUrl, issuer, clientId } = credential;
  return {
    tenant,
    principal,
    server: serverId,
    kind: `credential:${kind}`,
    field: 'tokens',
    binding: [
      label,
      canonicalUrl,
      issuer,
      clientId,
      String(credential.generation),
      String(credential.tokenSeq),
    ],
  };
}

/** One value that a user entered for one server. Unique by (tenant, userId, serverId, name). */
export interface UserVariableRecord {
  /** From `variableId`, so that concurrent writers of one value use the same row. */
  id: string;
  tenant: string;
  userId: string;
  serverId: string;
  name: string;
  valueSealed: string;
  updatedAt: number;
}

export type VariableKey = Pick<UserVariableRecord, 'tenant' | 'userId' | 'serverId' | 'name'>;

export interface UserVariableStore {
  /** The values of one user for one server, ordered by name. */
  list(tenant: string, userId: string, serverId: string): Promise<UserVariableRecord[]>;
  /** Inserts or replaces each record. */
  put(records: readonly UserVariableRecord[]): Promise<void>;
  /** False if it did not exist. */
  remove(tenant: string, userId: string, serverId: string, name: string): Promise<boolean>;
  /** Removes all values of one user for one server. Returns their number. */
  removeAll(tenant: string, userId: string, serverId: string): Promise<number>;
  /** Removes the values of all users, when the server is deleted. */
  removeByServer(tenant: string, serverId: string): Promise<number>;
  /** Removes the values for all servers, when the user is deleted. */
  removeByUser(tenant: string, userId: string): Promise<number>;
}

/** A JSON tuple, so that different keys never have the same ID. */
export function variableId({ tenant, userId, serverId, name }: VariableKey): string {
  return JSON.stringify([tenant, userId, serverId, name]);
}

/** Binds the value to user, server and name: a value copied to another row fails to decrypt. */
export function toVariableSealContext({ tenant, userId, serverId, name }: VariableKey): SealContext {
  return { tenant, principal: `user:${userId}`, server: serverId, kind: 'user-variable', field: name };
}

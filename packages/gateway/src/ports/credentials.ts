import type { SealContext } from '@behalf/kernel';

/**
 * `login`: the tokens of a sign-in at the identity provider. `oauth_code`: a user's grant at a server. `client_credentials`:
 * ours, for a server that everybody shares. `static`: a token that somebody brought.
 */
export const credentialKinds = ['login', 'oauth_code', 'client_credentials', 'static'] as const;
export type CredentialKind = (typeof credentialKinds)[number];

/**
 * `active`: may be presented and renewed. `rejected`: the refresh token is dead, the access token may live on. `revoked`: ended
 * by its user; nothing is left of it but the generation. `unreadable`: it does not open. `unbound`: it was given for another
 * address, issuer or client than the server has now.
 */
export type CredentialStatus = 'active' | 'rejected' | 'revoked' | 'unreadable' | 'unbound';

/** Where its tokens are renewed and revoked, as validated when it was given. */
export interface CredentialEndpoints {
  readonly token: string;
  readonly revocation: string | null;
  readonly authorization: string | null;
  /** When the metadata that said so was read. */
  readonly fetchedAt: number;
  /** How the client proved itself there, as the metadata allowed it. */
  readonly clientAuth?: ClientAuthMethod;
}

type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

/** What we hold for somebody and present elsewhere. Unique by (tenant, principal, serverId, kind, label). */
export interface CredentialRecord {
  /** Made by `credentialId`; the same for as long as anybody refers to it. */
  id: string;
  tenant: string;
  /** `user:<id>`, or `@app` for a server that everybody shares. */
  principal: string;
  /** The server's id; `@login` for the tokens of a sign-in at the identity provider. */
  serverId: string;
  kind: CredentialKind;
  /** Of a login the session's hash; else what the user calls it, `default` when they do not. */
  label: string;
  /** Whether it is the one that is used when nobody says which; one for each (tenant, principal, server). */
  isDefault: boolean;

  /** What it was given for. Another value on the server's side makes it `unbound`. */
  canonicalUrl: string;
  issuer: string;
  clientId: string;
  /** RFC 8707, as it was sent; null when it was not. */
  resource: string | null;

  status: CredentialStatus;
  /** Why, in a word of a fixed list. */
  reason: string | null;
  /** Since when. */
  statusAt: number;

  /** Counts logins, imports and logouts. It outranks everything. */
  generation: number;
  /** Counts the pairs stored within a generation. */
  tokenSeq: number;
  /** Counts writes: for observers, never a condition of a token's write. */
  version: number;
  /** Keyed hashes of the current tokens: tell two apart without opening either. Null where there is none. */
  rtHash: string | null;
  atHash: string | null;
  /** The tokens. Null once they are gone for good. */
  sealed: string | null;
  /** The last refresh may have been lost on its way: the refresh token may be dead (RFC 6749 says nothing of it). */
  rtSuspect: boolean;

  /** When the request that gave the access token was sent. */
  issuedAt: number;
  /** As the answer said; null when it did not. */
  lifetimeMs: number | null;
  /** Of the access token: `issuedAt` and its lifetime. Null: unknown. */
  tokenExpiresAt: number | null;
  /** Separated by blanks, sorted. */
  scopesRequested: string;
  scopesGranted: string;
  endpoints: CredentialEndpoints | null;

  /** The fence: only grows, also over settled claims. */
  claimSeq: number;
  /** Who is renewing it at this moment; null: nobody. */
  claimOwner: string | null;
  claimStartedAt: number | null;
  claimDeadline: number | null;

  /** When the row goes: of a login with its session, of what was ended a while later. */
  expiresAt: number | null;
  createdAt: number;
  updatedAt: number;
}

export type CredentialKey = Pick<CredentialRecord, 'tenant' | 'principal' | 'serverId' | 'kind' | 'label'>;

/** What must still hold for a write. Every field that is there is compared; `claimSeq` also says that the claim is still open. */
export interface CredentialCondition {
  readonly generation: number;
  readonly rtHash?: string | null;
  readonly tokenSeq?: number;
  readonly claimSeq?: number;
}

/** What a write may change. `version` counts by itself, `updatedAt` is the store's time. */
export type CredentialPatch = Partial<
  Omit<
    CredentialRecord,
    keyof CredentialKey | 'id' | 'version' | 'updatedAt' | 'createdAt' | 'isDefault' | 'claimSeq'
  >
>;

export interface ClaimRequest {
  readonly generation: number;
  /** Of the refresh token that will be sent. */
  readonly rtHash: string;
  /** Of the pair it was read with: where refresh tokens are not replaced, this alone tells that another was faster. */
  readonly tokenSeq: number;
  readonly owner: string;
  readonly ttlMs: number;
}

/** `record` as it is with the claim. `tookOver`: a claim before it was never settled, so its outcome is in doubt. */
export interface CredentialClaim {
  readonly record: CredentialRecord;
  readonly tookOver: boolean;
}

export interface CredentialStore {
  /** False when one of this key exists. The first of its server becomes the default one. */
  insert(credential: CredentialRecord): Promise<boolean>;
  find(key: CredentialKey): Promise<CredentialRecord | null>;
  findById(id: string): Promise<CredentialRecord | null>;
  /** Of one holder, those of a server or all, in the order of server, kind and label. */
  list(tenant: string, principal: string, serverId?: string): Promise<CredentialRecord[]>;
  /** Of all holders at a server, so many at most, in the order of ids. */
  listKeysByServer(tenant: string, serverId: string, limit: number): Promise<CredentialKey[]>;
  /**
   * One step for all processes: writes the patch where the condition holds, and answers with the record as it is then; null
   * where it does not hold, or there is none. A patch with `claimOwner: null` settles the claim.
   */
  replace(
    id: string,
    condition: CredentialCondition,
    patch: CredentialPatch,
  ): Promise<CredentialRecord | null>;
  /**
   * Takes the right to send the refresh token, where `generation`, `tokenSeq` and `rtHash` hold, the status is `active`, and nobody else
   * has it: no claim, or one whose deadline has passed by the store's own clock. The clocks of processes do not count.
   */
  claim(id: string, request: ClaimRequest): Promise<CredentialClaim | null>;
  /** Prolongs a claim that is still ours. */
  extendClaim(id: string, claimSeq: number, owner: string, ttlMs: number): Promise<boolean>;
  /** False when there is no such credential. */
  makeDefault(id: string): Promise<boolean>;
  /** False when there was none. */
  remove(key: CredentialKey): Promise<boolean>;
  /** How many there were. */
  removeByPrincipal(tenant: string, principal: string): Promise<number>;
  /** Of all principals: the server is gone. */
  removeByServer(tenant: string, serverId: string): Promise<number>;
  /** Those whose `expiresAt` has passed. */
  removeExpired(now: number): Promise<number>;
  /** By the store's clock: what deadlines are judged by. */
  now(): Promise<number>;
}

/** What changes with every use: in a row of its own, so that it is in nobody's way. */
export interface CredentialUsageRecord {
  /** The credential's. */
  id: string;
  lastUsedAt: number;
  lastOutcome: string;
  refreshes: number;
}

export interface CredentialUsageStore {
  put(usage: CredentialUsageRecord): Promise<void>;
  find(id: string): Promise<CredentialUsageRecord | null>;
  /** Used since then; at most so many, the last used first. */
  listUsedSince(since: number, limit: number): Promise<CredentialUsageRecord[]>;
  remove(id: string): Promise<boolean>;
}

/** What of a record, or of more than a key, names it. */
export function credentialKey({ tenant, principal, serverId, kind, label }: CredentialKey): CredentialKey {
  return { tenant, principal, serverId, kind, label };
}

/** A JSON tuple: no two keys share one. */
export function credentialId({ tenant, principal, serverId, kind, label }: CredentialKey): string {
  return JSON.stringify([tenant, principal, serverId, kind, label]);
}

/**
 * Bound to all of its key and to everything it was given for: tokens moved into the row of another user, server, address,
 * issuer, client or generation do not open there.
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
  /** Made of what is unique about it by `variableId`, so that two writers of one value meet in one row. */
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
  /** Of one user for one server, in the order of their names. */
  list(tenant: string, userId: string, serverId: string): Promise<UserVariableRecord[]>;
  /** Each replaces what was there. */
  put(records: readonly UserVariableRecord[]): Promise<void>;
  /** False when there was none. */
  remove(tenant: string, userId: string, serverId: string, name: string): Promise<boolean>;
  /** All of one user for one server; how many there were. */
  removeAll(tenant: string, userId: string, serverId: string): Promise<number>;
  /** Of all users: the server is gone. */
  removeByServer(tenant: string, serverId: string): Promise<number>;
  /** For all servers: the user is gone. */
  removeByUser(tenant: string, userId: string): Promise<number>;
}

/** A JSON tuple: no two keys share one. */
export function variableId({ tenant, userId, serverId, name }: VariableKey): string {
  return JSON.stringify([tenant, userId, serverId, name]);
}

/** Bound to user, server and name: a value moved into another row does not open there. */
export function toVariableSealContext({ tenant, userId, serverId, name }: VariableKey): SealContext {
  return { tenant, principal: `user:${userId}`, server: serverId, kind: 'user-variable', field: name };
}

import type { SealContext } from '@behalf/kernel';

/** What we hold for a user and present elsewhere. Unique by (tenant, principal, serverId, kind, label). */
export interface CredentialRecord {
  /** Made by `credentialId`. */
  id: string;
  tenant: string;
  /** `user:<id>`. */
  principal: string;
  /** The server's id; `@login` for the tokens of a sign-in at the identity provider. */
  serverId: string;
  kind: 'login';
  /** Of a login the session's hash. */
  label: string;
  /** The tokens as JSON. */
  sealed: string;
  expiresAt: number | null;
  createdAt: number;
  updatedAt: number;
}

export type CredentialKey = Pick<CredentialRecord, 'tenant' | 'principal' | 'serverId' | 'kind' | 'label'>;

export interface CredentialStore {
  /** Replaces what was there under the same key. */
  put(credential: CredentialRecord): Promise<void>;
  find(key: CredentialKey): Promise<CredentialRecord | null>;
  /** False when there was none. */
  remove(key: CredentialKey): Promise<boolean>;
  /** How many there were. */
  removeOfPrincipal(tenant: string, principal: string): Promise<number>;
  /** Of all principals: the server is gone. */
  removeOfServer(tenant: string, serverId: string): Promise<number>;
  /** Those whose `expiresAt` has passed. */
  removeExpired(now: number): Promise<number>;
}

/** A JSON tuple: no two keys share one. */
export function credentialId({ tenant, principal, serverId, kind, label }: CredentialKey): string {
  return JSON.stringify([tenant, principal, serverId, kind, label]);
}

/** Bound to all of its key, the label too: tokens moved into another session's row do not open there. */
export function credentialContext({ tenant, principal, serverId, kind, label }: CredentialKey): SealContext {
  return {
    tenant,
    principal,
    server: serverId,
    kind: `credential:${kind}`,
    field: 'tokens',
    binding: [label],
  };
}

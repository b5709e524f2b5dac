import type { UserPrincipal } from '@behalf/gateway';
import {
  type CollectionName,
  type Collections,
  type CredentialRecord,
  collectionShapes,
  credentialId,
} from '@behalf/gateway/ports';
import type { Keyring } from '@behalf/kernel';

/** A user principal with a session. `overrides` changes fields. */
export function aPrincipal(overrides: Partial<UserPrincipal> = {}): UserPrincipal {
  return {
    kind: 'user',
    userId: 'u-ada',
    tenant: 'default',
    role: 'USER',
    email: 'ada@example.com',
    name: 'Ada',
    issuer: 'local',
    groups: [],
    authentication: { via: 'session', session: 'session-of-ada' },
    ...overrides,
  };
}

/** A user's OAuth credential at a server, without a claim. */
export function aCredential(overrides: Partial<Omit<CredentialRecord, 'id'>> = {}): CredentialRecord {
  const record = {
    tenant: 'default',
    principal: 'user:u1',
    serverId: 's1',
    kind: 'oauth_code' as const,
    label: 'default',
    isDefault: true,
    canonicalUrl: 'https://mcp.example.com/mcp',
    issuer: 'https://as.example.com',
    clientId: 'client',
    resource: 'https://mcp.example.com/mcp',
    status: 'active' as const,
    reason: null,
    statusAt: 1_000,
    generation: 1,
    tokenSeq: 1,
    version: 1,
    rtHash: 'rt-1',
    atHash: 'at-1',
    sealed: 'v1.sealed',
    rtSuspect: false,
    issuedAt: 1_000,
    lifetimeMs: 3_600_000,
    tokenExpiresAt: 3_601_000,
    scopesRequested: 'read write',
    scopesGranted: 'read',
    endpoints: {
      token: 'https://as.example.com/token',
      revocation: null,
      authorization: 'https://as.example.com/authorize',
      fetchedAt: 1_000,
    },
    claimSeq: 0,
    claimOwner: null,
    claimStartedAt: null,
    claimDeadline: null,
    expiresAt: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    ...overrides,
  };
  return { id: credentialId(record), ...record };
}

/** Encrypts all sealed values of a record in their contexts. */
export function sealRecord<N extends CollectionName>(
  keyring: Keyring,
  name: N,
  record: Collections[N],
): Collections[N] {
  const fields = collectionShapes[name].sealed(record);
  return {
    ...record,
    ...Object.fromEntries(fields.map(({ field, context }) => [field, keyring.seal('{}', context)])),
  };
}

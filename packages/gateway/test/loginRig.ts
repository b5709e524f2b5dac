import type { Clock, Fetch, Keyring } from '@behalf/kernel';
import { systemRandom as random } from '@behalf/kernel';
import { createVault } from '../src/credentials/vault/createVault.ts';
import type { CredentialVault } from '../src/credentials/vault/vault.ts';
import {
  type LoginTokens,
  createLoginContexts,
  createLoginTokens,
} from '../src/identity/openid/loginTokens.ts';
import type { ProviderMetadataSource } from '../src/identity/openid/provider.ts';
import type { PrimaryStore } from '../src/ports/index.ts';

export interface LoginRigParts {
  readonly store: PrimaryStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly issuer: string;
  /** What the token endpoint of the provider answers with; nobody answers unless it is given. */
  readonly fetch: Fetch | undefined;
  /** Made up unless it is given. */
  readonly metadata?: ProviderMetadataSource;
  readonly clientSecret?: string;
}

/** Tokens of sign-ins in a real vault, at a provider of which only the metadata is made up. */
export function createLoginRig({ store, keyring, clock, issuer, fetch, ...overrides }: LoginRigParts): {
  vault: CredentialVault;
  loginTokens: LoginTokens;
} {
  const metadataDocument = { issuer, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/jwks` };
  const readMetadata = async () => ({
    issuer,
    jwksUri: metadataDocument.jwks_uri,
    document: metadataDocument,
  });
  const {
    metadata = { current: readMetadata, refresh: readMetadata, origins: () => [issuer] },
    clientSecret = null,
  } = overrides;
  const settings = { issuer, clientId: 'gateway', clientSecret, scope: 'openid' };
  const failingFetch: Fetch = () => Promise.reject(new Error('nobody answers'));
  const vault = createVault({
    store: store.credentials,
    usage: store.credentialUsage,
    ...{
      pendingWrites: store.pendingWrites,
      leases: store.leases,
      changes: store.changes,
      keyring,
      clock,
      random,
    },
    log: () => undefined,
    contexts: createLoginContexts({ settings, metadata, users: store.users, fetch: fetch ?? failingFetch }),
    readError: () => ({ code: 'MCP_UNREACHABLE', requestSent: false }),
    record: () => undefined,
  });
  return { vault, loginTokens: createLoginTokens({ vault, settings, metadata, clock }) };
}

import type { Clock } from '@behalf/kernel';
import {
  credentialId,
  type CredentialKey,
  type CredentialRecord,
  type CredentialStore,
} from '../../ports/index.ts';
import { isCredentialUsable } from '../credentialSelector.ts';
import type { CommitOutcome, CredentialVault, GrantCommit } from '../vault/vault.ts';

export interface StoreGrantParts {
  readonly vault: Pick<CredentialVault, 'commit' | 'makeDefault' | 'remove'>;
  readonly credentials: Pick<CredentialStore, 'list'>;
  readonly clock: Clock;
}

/**
 * Stores what a user was given at a server or brought, as what is used from now on where the one before is of no use. A
 * sign-in also takes the place of a token that was brought under its label: one label is one credential.
 */
export async function storeGrant(parts: StoreGrantParts, grant: GrantCommit): Promise<CommitOutcome> {
  const { vault, credentials, clock } = parts;
  const committed = await vault.commit(grant);
  if (committed.kind === 'superseded') return committed;
  const { tenant, principal, serverId, kind, label } = grant;
  const records = await credentials.list(tenant, principal, serverId);
  const currentDefault = records.find(({ isDefault }) => isDefault);
  if (
    currentDefault &&
    currentDefault.id !== committed.id &&
    shouldReplaceDefault(currentDefault, grant, clock.now())
  ) {
    await vault.makeDefault(committed.id);
  }
  const staticKey: CredentialKey = { tenant, principal, serverId, kind: 'static', label };
  if (kind === 'oauth_code' && records.some(({ id }) => id === credentialId(staticKey)))
    await vault.remove(staticKey);
  return committed;
}

/** A token that was brought never stands before a sign-in unasked, not even before one that fails: anybody can bring one. */
function shouldReplaceDefault(
  currentDefault: CredentialRecord,
  { kind }: Pick<GrantCommit, 'kind'>,
  now: number,
): boolean {
  if (currentDefault.status === 'revoked') return true;
  const isSignIn = currentDefault.kind === 'oauth_code';
  return kind === 'oauth_code'
    ? !(isSignIn && isCredentialUsable(currentDefault, now))
    : !isSignIn && !isCredentialUsable(currentDefault, now);
}

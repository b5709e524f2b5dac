import type { Clock } from '@behalf/kernel';
import {
  credentialId,
  type CredentialKey,
  type CredentialRecord,
  type CredentialStore,
} from '../../ports/index.ts';
import { isAlive } from '../chosenCredential.ts';
import type { CommitOutcome, CredentialVault, NewGrant } from '../vault/vault.ts';

export interface StoreGrantParts {
  readonly vault: Pick<CredentialVault, 'commit' | 'makeDefault' | 'end'>;
  readonly credentials: Pick<CredentialStore, 'list'>;
  readonly clock: Clock;
}

/**
 * Stores what a user was given at a server or brought, as what is used from now on where the one before is of no use. A
 * sign-in also takes the place of a token that was brought under its label: one label is one credential.
 */
export async function storeGrant(parts: StoreGrantParts, grant: NewGrant): Promise<CommitOutcome> {
  const { vault, credentials, clock } = parts;
  const committed = await vault.commit(grant);
  if (committed.kind === 'superseded') return committed;
  const { tenant, principal, serverId, kind, label } = grant;
  const all = await credentials.list(tenant, principal, serverId);
  const before = all.find(({ isDefault }) => isDefault);
  if (before && before.id !== committed.id && givesWay(before, grant, clock.now())) {
    await vault.makeDefault(committed.id);
  }
  const brought: CredentialKey = { tenant, principal, serverId, kind: 'static', label };
  if (kind === 'oauth_code' && all.some(({ id }) => id === credentialId(brought))) await vault.end(brought);
  return committed;
}

/** A token that was brought never stands before a sign-in unasked, not even before one that fails: anybody can bring one. */
function givesWay(before: CredentialRecord, { kind }: Pick<NewGrant, 'kind'>, now: number): boolean {
  if (before.status === 'revoked') return true;
  const isSignIn = before.kind === 'oauth_code';
  return kind === 'oauth_code' ? !(isSignIn && isAlive(before, now)) : !isSignIn && !isAlive(before, now);
}

import {
  type AppGrants,
  type AppTokens,
  type Audit,
  type AuditEvent,
  type CredentialSelector,
  type CredentialVault,
  type GrantContexts,
  type Log,
  type OAuthTokens,
  type VaultEvent,
  createAppTokens,
  createCredentialSelector,
  createOAuthTokens,
  createVault,
  userIdOfHolder,
} from '@behalf/gateway';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import type { RefreshStats } from '../routes/ops/counters.ts';
import type { Disposables } from '../runtime/lifecycle.ts';
import type { ReloadableNetwork } from '../runtime/network.ts';

interface ComposeVaultParts {
  clock: Clock;
  random: Random;
  keyring: Keyring;
  log: Log;
  primary: PrimaryStore;
  coordination: CoordinationStore;
  disposables: Disposables;
  egress: Pick<ReloadableNetwork, 'network'>;
  refreshes: Pick<RefreshStats, 'count' | 'countNotStored'>;
}

/** Who knows how a credential is renewed. Filled in as the parts come that know: sign-ins first, then servers. */
export interface ContextTable {
  login: GrantContexts | null;
  servers: GrantContexts | null;
  /** Of tokens that are ours. */
  apps: AppGrants | null;
  /** Where it is written down that somebody has to sign in again. */
  audit: Pick<Audit, 'note'> | null;
}

/** Where tokens are kept and renewed. */
export interface Vault {
  readonly vault: CredentialVault;
  readonly contexts: ContextTable;
  readonly selector: CredentialSelector;
  readonly oauthTokens: OAuthTokens;
  readonly appTokens: AppTokens;
}

export function composeVault(parts: ComposeVaultParts): Vault {
  const { clock, random, keyring, log, primary, coordination, disposables, egress, refreshes } = parts;
  const { leases, changes, pendingWrites } = coordination;
  const contexts: ContextTable = { login: null, servers: null, apps: null, audit: null };
  const vault = createVault({
    store: primary.credentials,
    usage: primary.credentialUsage,
    ...{ pendingWrites, leases, changes, keyring, clock, random, log },
    contexts: {
      // Where nobody knows the way there is none: an identity provider that is not configured any more, say.
      resolve: async (record) =>
        (await contexts[record.kind === 'login' ? 'login' : 'servers']?.resolve(record)) ?? 'unbound',
    },
    appGrants: { resolve: async (key) => (await contexts.apps?.resolve(key)) ?? null },
    readError: (error) => egress.network.readError(error),
    record: (event) => recordEvent(refreshes, contexts, event),
  });
  disposables.add(() => vault.close());
  const selector = createCredentialSelector({ store: primary.credentials, changes, clock });
  disposables.add(() => selector.close());
  return {
    ...{ vault, contexts, selector },
    oauthTokens: createOAuthTokens({ vault, selector }),
    appTokens: createAppTokens(vault),
  };
}

/** Where an event of the vault is counted or written down. */
export function recordEvent(
  refreshes: ComposeVaultParts['refreshes'],
  contexts: Pick<ContextTable, 'audit'>,
  event: VaultEvent,
): void {
  if (event.kind === 'refresh') refreshes.count(event.outcome);
  else if (event.kind === 'sign_in_needed') contexts.audit?.note(signInNeededEvent(event));
  else refreshes.countNotStored();
}

/** Nobody asked for it: a renewal in the background found out. */
function signInNeededEvent({
  credential: { tenant, principal, serverId },
  reason,
}: Extract<VaultEvent, { kind: 'sign_in_needed' }>): AuditEvent {
  return {
    kind: 'credential',
    action: 'credential.sign_in_needed',
    tenant,
    actor: { kind: 'gateway', id: '' },
    door: 'gateway',
    outcome: 'failed',
    code: reason,
    serverId,
    subject: userIdOfHolder(principal) ?? principal,
  };
}

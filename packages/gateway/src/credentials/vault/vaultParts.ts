import type { Clock, Keyring, Leases, Random } from '@behalf/kernel';
import type {
  ChangeFeed,
  CredentialEndpoints,
  CredentialKey,
  CredentialStore,
  CredentialUsageStore,
  PendingWriteStore,
} from '../../ports/index.ts';
import type { Log } from '../../upstream/parts.ts';
import type { ReadNetworkError } from '../../upstream/upstreamError.ts';
import type { Dpop } from '../dpop/dpop.ts';
import type { GrantContext, GrantContexts } from '../oauth/grantContext.ts';
import type { VaultTimings } from './timings.ts';

export type RefreshOutcome =
  | 'ok'
  /** A pair that had been put aside was taken up; nothing was sent. */
  | 'adopted'
  /** Somebody signed in or out meanwhile: what came was discarded. */
  | 'superseded'
  | 'rejected'
  | 'lost_rotation'
  /** Refused before the access token's end, which says nothing yet. */
  | 'early_refused'
  | 'user_needed'
  | 'client_refused'
  | 'misconfigured'
  | 'in_doubt'
  | 'unavailable'
  | 'moved'
  | 'unintelligible';

/** For the metrics and the audit. Holds no token. */
export type VaultEvent =
  | { readonly kind: 'refresh'; readonly credential: CredentialKey; readonly outcome: RefreshOutcome }
  /** Its user has to sign in again. Told once for each time it came to that. */
  | { readonly kind: 'sign_in_needed'; readonly credential: CredentialKey; readonly reason: string }
  /** A pair was received and could not be stored. */
  | { readonly kind: 'persist_failed'; readonly credential: CredentialKey };

/** What a token of our own for a server takes: nobody has to sign in for it. */
export interface AppGrant {
  readonly context: GrantContext;
  readonly endpoints: CredentialEndpoints;
  readonly scopes: string;
  /** Whether its tokens are bound to a key of ours. */
  readonly usesDpop?: boolean;
}

/** Null: the server has no such grant. */
export interface AppGrants {
  resolve(key: CredentialKey): Promise<AppGrant | null>;
}

export interface VaultParts {
  readonly store: CredentialStore;
  readonly usage: CredentialUsageStore;
  readonly pendingWrites: PendingWriteStore;
  readonly leases: Leases;
  readonly changes: ChangeFeed;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly contexts: GrantContexts;
  /** For credentials of the kind `client_credentials`. */
  readonly appGrants?: AppGrants;
  readonly readError: ReadNetworkError;
  /** Proves possession of the keys that tokens are bound to. Absent: one of its own. */
  readonly dpop?: Dpop;
  readonly record: (event: VaultEvent) => void;
  readonly timings?: Partial<VaultTimings>;
}

/** The parts as they go on within this folder. */
export interface ResolvedVaultParts extends Omit<VaultParts, 'timings' | 'dpop'> {
  readonly dpop: Dpop;
  readonly timings: VaultTimings;
  /** The store's time: what is written into records and compared with them. */
  readonly clock: Clock;
  /** This process's own time: for how long something takes here, and for what the change feed says. */
  readonly localClock: Clock;
}

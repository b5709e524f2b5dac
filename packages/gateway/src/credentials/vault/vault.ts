import type { Cancellation, Clock, HiddenText, Keyring, Leases, Random } from '@behalf/kernel';
import type {
  ChangeFeed,
  CredentialEndpoints,
  CredentialKey,
  CredentialStatus,
  CredentialStore,
  CredentialUsageStore,
  PendingWriteStore,
} from '../../ports/index.ts';
import type { Log } from '../../upstream/upstream.ts';
import type { ReadNetworkError } from '../../upstream/upstreamError.ts';
import type { Dpop, Prover } from '../oauth/dpop.ts';
import type { GrantBinding, GrantContext, GrantContexts } from '../oauth/grantContext.ts';
import type { TokenSet } from '../oauth/tokenEndpoint.ts';
import type { SignInReason } from '../signInRequired.ts';
import type { VaultTimings } from './createVault.ts';

/** One access token at one moment. Immutable: a renewed one is another. */
export interface VaultToken {
  readonly id: string;
  readonly generation: number;
  readonly tokenSeq: number;
  readonly accessToken: string;
  /** The only address it may be presented to. */
  readonly canonicalUrl: string;
  /** Until when it is given out: its end less the skew. Infinity when its end is not known. */
  readonly usableUntil: number;
  readonly expiresAt: number | null;
  readonly scopes: string;
  /** What was asked for: more than was granted, where the authorization server gave less. */
  readonly scopesRequested: string;
  /** Of a login: whom it speaks of. */
  readonly idToken?: string | undefined;
  /** There is a refresh token behind it that nobody has refused. */
  readonly isRenewable: boolean;
  /** Of one that is bound to a key: it is nothing without a proof, and no bearer token. */
  readonly prover?: Prover | undefined;
}

export type TokenOutcome =
  | { readonly kind: 'token'; readonly token: VaultToken }
  | {
      readonly kind: 'needs_reauth';
      readonly reason: SignInReason;
      readonly credentialId?: string | undefined;
      readonly scopes?: string | undefined;
      /** What the next sign-in has to prove: JSON text. Never shown. */
      readonly claims?: string | undefined;
    }
  /** Transient: nothing was stored, nobody has to do anything but try again. */
  | {
      readonly kind: 'unavailable';
      readonly reason: 'refresh_busy' | 'authorization_server' | 'store' | 'closing';
      readonly retryAfterMs: number;
    }
  /** The operator's to mend. */
  | { readonly kind: 'misconfigured'; readonly error: string };

/** A grant that was just given: stored before anything else is done with it. */
export interface GrantCommit extends CredentialKey {
  readonly binding: GrantBinding;
  readonly endpoints: CredentialEndpoints | null;
  readonly tokens: TokenSet;
  /** When the request for it was sent. */
  readonly sentAt: number;
  readonly scopesRequested: string;
  /** The key that the tokens are bound to, where they are. */
  readonly dpopKey?: HiddenText | undefined;
  /** The generation it is meant to follow; 0: there was none. Another one meanwhile wins. */
  readonly baseGeneration: number;
  /** When the row goes by itself: with the session, of a login. */
  readonly rowExpiresAt?: number | null;
}

export type CommitOutcome =
  | { readonly kind: 'committed'; readonly id: string; readonly generation: number }
  /** Somebody was faster: this grant is discarded. */
  | { readonly kind: 'superseded'; readonly generation: number };

/** What may be shown of a credential: no token, no hash. */
export interface CredentialSummary extends CredentialKey {
  readonly id: string;
  readonly isDefault: boolean;
  readonly status: CredentialStatus;
  readonly reason: string | null;
  readonly statusAt: number;
  readonly generation: number;
  readonly issuer: string;
  readonly scopes: string;
  readonly expiresAt: number | null;
  readonly hasRefreshToken: boolean;
  /** First characters of a keyed hash: tells two tokens apart and leads to neither. */
  readonly fingerprint: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** `unsupported`: the authorization server offers no way. `none`: there was nothing to revoke. */
export type RevocationResult = 'yes' | 'failed' | 'unsupported' | 'none';

interface VaultCallOptions {
  /** This caller's patience: what was begun goes on without them. */
  readonly signal?: Cancellation;
}

/** A refresh token that may be sent once, now, to where it came from and as who it was given to. */
export interface BorrowedToken {
  readonly endpoint: string;
  readonly clientId: string;
  /** In the moment of sending: throws when another may have it by now. */
  reveal(): HiddenText;
}

/** What came of it. */
export interface BorrowResult<T> {
  readonly value: T;
  /** The refresh token that the answer puts in its place. */
  readonly rotatedToken?: string | undefined;
  /** It was sent, and the answer does not say what became of it. */
  readonly isInDoubt?: boolean;
}

export type BorrowOutcome<T> =
  { readonly kind: 'used'; readonly value: T } | Exclude<TokenOutcome, { kind: 'token' }>;

/**
 * Rejects as `work` does: what was taken by then is in doubt. Who leaves by the signal before that leaves the line, and takes nothing any
 * more.
 */
export type WithRefreshToken = <T>(
  key: CredentialKey,
  signal: Cancellation,
  work: (borrowed: BorrowedToken) => Promise<BorrowResult<T>>,
) => Promise<BorrowOutcome<T>>;

/**
 * The one that knows refresh tokens. Everybody else gets an access token or nothing; who has to show a refresh token itself is lent it.
 */
export interface CredentialVault {
  /** At once, from memory, while what is known is fresh enough; undefined: ask `token`. */
  peek(key: CredentialKey): VaultToken | undefined;
  /** A usable token, renewed if it must be. */
  token(key: CredentialKey, options?: VaultCallOptions): Promise<TokenOutcome>;
  /**
   * The server refused this very access token with a 401: another one, stored by a peer or renewed now, or why there is none.
   */
  recover(key: CredentialKey, refusedToken: string, options?: VaultCallOptions): Promise<TokenOutcome>;
  /** Stores a grant. The old one stays until this very step, and is gone after it. */
  commit(grant: GrantCommit): Promise<CommitOutcome>;
  /** Ends it here at once, then at the authorization server. */
  disconnect(key: CredentialKey): Promise<{ readonly existed: boolean; readonly revoked: RevocationResult }>;
  /** Removes it here before it resolves, so that nothing is left of it; the authorization server is told afterwards. */
  remove(key: CredentialKey): Promise<boolean>;
  /** Marks that its user has to sign in again, and keeps what is there. */
  requireSignIn(key: CredentialKey, reason: SignInReason): Promise<boolean>;
  /** Of one holder, in a stable order; opens nothing. */
  list(tenant: string, principal: string, serverId?: string): Promise<readonly CredentialSummary[]>;
  find(key: CredentialKey): Promise<CredentialSummary | null>;
  makeDefault(id: string): Promise<boolean>;
  /** One user of a credential at a time, for servers that end the old token on refresh (`exclusive: true`). */
  withExclusiveUse<T>(key: CredentialKey, signal: Cancellation, work: () => Promise<T>): Promise<T>;
  /** One use of the refresh token, which nobody else uses meanwhile, a renewal included. */
  withRefreshToken: WithRefreshToken;
  /** Told when a token changed, here or elsewhere. */
  onChange(listener: (id: string) => void): () => void;
  /** Told of every token that is given out here, before its caller has it. */
  onTokenProvided(listener: (token: VaultToken) => void): () => void;
  /** How many renewals are under way: what a shutdown waits for. */
  readonly activeRenewals: number;
  /** No new refreshes; those under way finish, within 15 s. */
  close(): Promise<void>;
}

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

/**
 * The token vault.
 *
 * Responsibility: stores every token that outlives a call (grants of users, tokens of a login at the identity
 * provider, `client_credentials` tokens, imported tokens), refreshes them and hands out access tokens. No other
 * module reads a refresh token, except inside `withRefreshToken`.
 *
 * Invariants:
 * - One sender per refresh token. A replica sends it only while it holds the claim in the credential record, an
 *   atomic compare-and-set in the store. The lease only reduces contention. Authorization servers rotate refresh
 *   tokens and revoke the grant on reuse (RFC 6749 section 6, RFC 9700 section 4.14.2).
 * - New tokens replace exactly the tokens whose refresh token they consumed: a compare-and-set on generation,
 *   refresh token hash and sequence number. A sign-in or sign-out in the meantime wins.
 * - The vault stores new tokens before it hands them out. If the store fails, the tokens are written sealed to
 *   `pendingWrites`, used from memory, and saved later. The consumed refresh token is not sent again.
 * - If the response to a refresh may have been lost, the record is marked (`rtSuspect`). The refresh token is sent
 *   again only within the issuer's known grace period or after the access token has expired.
 * - `invalid_grant` marks the record and deletes nothing. Other errors change no token.
 * - Tokens are sealed together with their user, server, endpoints and sequence number. A modified store cannot
 *   redirect them.
 * - Shutdown waits for refreshes in flight. Aborting a waiting caller never aborts a refresh.
 *
 * RFCs: 6749 section 6 (refresh), 9700 section 4.14 (rotation), 7009 (revocation), 9449 (DPoP), 8707 (resource).
 */
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

/** An access token as the vault hands it out. Immutable: a refreshed token is a new object. */
export interface VaultToken {
  /** The id of the credential. */
  readonly id: string;
  readonly generation: number;
  /** Counts the tokens within the generation. */
  readonly tokenSeq: number;
  readonly accessToken: string;
  /** The only URL that may receive the token. */
  readonly canonicalUrl: string;
  /** Expiry minus the refresh skew. Infinity if the expiry is unknown. */
  readonly usableUntil: number;
  readonly expiresAt: number | null;
  readonly scopes: string;
  /** The scopes of the authorization request. The authorization server may have granted fewer. */
  readonly scopesRequested: string;
  /** Only for a login: the ID token of the user. */
  readonly idToken?: string | undefined;
  /** True if the credential has a refresh token that was not rejected. */
  readonly isRenewable: boolean;
  /** Set for a DPoP-bound token (RFC 9449). Such a token is never sent as a bearer token. */
  readonly prover?: Prover | undefined;
}

export type TokenOutcome =
  | { readonly kind: 'token'; readonly token: VaultToken }
  | {
      readonly kind: 'needs_reauth';
      readonly reason: SignInReason;
      readonly credentialId?: string | undefined;
      readonly scopes?: string | undefined;
      /** A claims request for the next sign-in, as JSON text. Never shown. */
      readonly claims?: string | undefined;
    }
  /** Transient. Nothing was stored; the caller may retry. */
  | {
      readonly kind: 'unavailable';
      readonly reason: 'refresh_busy' | 'authorization_server' | 'store' | 'closing';
      readonly retryAfterMs: number;
    }
  /** The operator must change the configuration. */
  | { readonly kind: 'misconfigured'; readonly error: string };

/** Any outcome but a token. */
export type MissingToken = Exclude<TokenOutcome, { kind: 'token' }>;

/** A new grant. The vault stores it before any other step uses it. */
export interface GrantCommit extends CredentialKey {
  readonly binding: GrantBinding;
  readonly endpoints: CredentialEndpoints | null;
  readonly tokens: TokenSet;
  /** When the token request was sent. */
  readonly sentAt: number;
  readonly scopesRequested: string;
  /** The DPoP key that the tokens are bound to. */
  readonly dpopKey?: HiddenText | undefined;
  /** The generation that this grant replaces; 0 for none. A generation stored in between wins. */
  readonly baseGeneration: number;
  /** When the store deletes the record: for a login, the end of the session. */
  readonly rowExpiresAt?: number | null;
}

export type CommitOutcome =
  | { readonly kind: 'committed'; readonly id: string; readonly generation: number }
  /** Another grant was stored first. The vault discards this one. */
  | { readonly kind: 'superseded'; readonly generation: number };

/** The visible part of a credential. Contains no token and no hash that identifies one. */
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
  /** Prefix of a keyed hash. Distinguishes two tokens without revealing either. */
  readonly fingerprint: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** `unsupported`: the authorization server has no revocation endpoint. `none`: there was no credential. */
export type RevocationResult = 'yes' | 'failed' | 'unsupported' | 'none';

interface VaultCallOptions {
  /** Aborts this caller's wait. The refresh continues. */
  readonly signal?: Cancellation;
}

/** A refresh token for one request by this caller, to the endpoint and with the client of the grant. */
export interface BorrowedToken {
  readonly endpoint: string;
  readonly clientId: string;
  /** Call right before sending. Throws if the claim may have expired. */
  reveal(): HiddenText;
}

export interface BorrowResult<T> {
  readonly value: T;
  /** The new refresh token, if the response rotated it. */
  readonly rotatedToken?: string | undefined;
  /** True if the token was sent and the response does not show whether it was consumed. */
  readonly isInDoubt?: boolean;
}

export type BorrowOutcome<T> = { readonly kind: 'used'; readonly value: T } | MissingToken;

export interface CredentialVault {
  /** Answers from memory without I/O. Undefined: call `token`. */
  peek(key: CredentialKey): VaultToken | undefined;
  /** A usable token, refreshed if necessary. */
  token(key: CredentialKey, options?: VaultCallOptions): Promise<TokenOutcome>;
  /**
   * Call when the server answered 401 to `refusedToken`. Returns a different token, stored by another replica or
   * refreshed now, or the reason why there is none.
   */
  recover(key: CredentialKey, refusedToken: string, options?: VaultCallOptions): Promise<TokenOutcome>;
  /** Stores a grant and replaces the previous one in the same atomic step. */
  commit(grant: GrantCommit): Promise<CommitOutcome>;
  /** Ends a credential locally, then revokes it at the authorization server. Leaves a tombstone. */
  disconnect(key: CredentialKey): Promise<{ readonly existed: boolean; readonly revoked: RevocationResult }>;
  /** Deletes the credential before it resolves; revokes it at the authorization server in the background. */
  remove(key: CredentialKey): Promise<boolean>;
  /** Marks that the user must sign in again. Tokens stay usable until they expire. */
  requireSignIn(key: CredentialKey, reason: SignInReason): Promise<boolean>;
  /** The credentials of one holder in a stable order. Decrypts nothing. */
  list(tenant: string, principal: string, serverId?: string): Promise<readonly CredentialSummary[]>;
  find(key: CredentialKey): Promise<CredentialSummary | null>;
  makeDefault(id: string): Promise<boolean>;
  /** Serializes calls per credential, for servers that invalidate the old token on refresh (`exclusive: true`). */
  withExclusiveUse<T>(key: CredentialKey, signal: Cancellation, work: () => Promise<T>): Promise<T>;
  /**
   * Lends the refresh token for one request. No refresh and no other borrower uses it at the same time. Rejects if `work`
   * rejects; a revealed token is then in doubt. An abort before the token is revealed leaves it unused.
   */
  withRefreshToken<T>(
    key: CredentialKey,
    signal: Cancellation,
    work: (borrowed: BorrowedToken) => Promise<BorrowResult<T>>,
  ): Promise<BorrowOutcome<T>>;
  /** Notifies when a credential changed on any replica. `*`: any credential may have changed. */
  onChange(listener: (id: string) => void): () => void;
  /** Notifies of each token that this replica hands out, before the caller receives it. */
  onTokenProvided(listener: (token: VaultToken) => void): () => void;
  /** The number of refreshes in flight. Shutdown waits for them. */
  readonly activeRenewals: number;
  /** Starts no new refresh and waits up to 15 s for those in flight. */
  close(): Promise<void>;
}

export type RefreshOutcome =
  | 'ok'
  /** Tokens from `pendingWrites` were saved. No request was sent. */
  | 'adopted'
  /** A sign-in or sign-out happened during the refresh. The new tokens were discarded. */
  | 'superseded'
  | 'rejected'
  | 'lost_rotation'
  /** Rejected before the access token expired. Not conclusive: some servers refuse early refreshes. */
  | 'early_refused'
  | 'user_needed'
  | 'client_refused'
  | 'misconfigured'
  | 'in_doubt'
  | 'unavailable'
  | 'moved'
  | 'unintelligible';

/** For metrics and audit. Contains no token. */
export type VaultEvent =
  | { readonly kind: 'refresh'; readonly credential: CredentialKey; readonly outcome: RefreshOutcome }
  /** The user must sign in again. Recorded once per change to that state. */
  | { readonly kind: 'sign_in_needed'; readonly credential: CredentialKey; readonly reason: string }
  /** New tokens could not be stored. */
  | { readonly kind: 'persist_failed'; readonly credential: CredentialKey };

/** The inputs of a `client_credentials` request. */
export interface AppGrant {
  readonly context: GrantContext;
  readonly endpoints: CredentialEndpoints;
  readonly scopes: string;
  /** Request DPoP-bound tokens. */
  readonly usesDpop?: boolean;
}

export interface AppGrants {
  /** Null if the server does not use `client_credentials`. */
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
  readonly record: (event: VaultEvent) => void;
  readonly timings?: Partial<VaultTimings>;
}

/** The dependencies of every module in this folder. */
export interface VaultCore extends Omit<VaultParts, 'timings' | 'record'> {
  readonly dpop: Dpop;
  readonly timings: VaultTimings;
  /** The store's time. Used for every value that is written to a record or compared with one. */
  readonly clock: Clock;
  /** The time of this process. Used for durations and for the change feed. */
  readonly localClock: Clock;
  readonly recordEvent: (event: VaultEvent) => void;
  /** When the vault began to close (local time); Infinity while it is open. */
  readonly closingSince: () => number;
}

export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

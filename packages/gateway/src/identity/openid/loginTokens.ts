import { type Cancellation, type Clock, type Fetch, HiddenText } from '@behalf/kernel';
import { userIdOfHolder } from '../../principal/credentialHolder.ts';
import type { GrantBinding, GrantContext, GrantContexts } from '../../credentials/oauth/grantContext.ts';
import type {
  BorrowResult,
  BorrowedToken,
  CredentialVault,
  TokenOutcome,
} from '../../credentials/vault/vault.ts';
import type { CredentialEndpoints, UserStore } from '../../ports/index.ts';
import { loginCredentialKey } from '../signInSessions.ts';
import {
  type OpenIdSettings,
  type ProviderMetadata,
  type ProviderMetadataSource,
  selectClientAuthMethod,
} from './provider.ts';

/** The tokens in the provider's response to a login. */
export interface FederatedTokens {
  /** The identity that the login authenticated. */
  readonly issuer: string;
  readonly subject: string;
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly idToken: string;
  /** The expiry of the access token. */
  readonly expiresAt: number;
}

/** The session that owns the tokens. */
export interface LoginSession {
  readonly tenant: string;
  readonly userId: string;
  /** The hash of the session. */
  readonly session: string;
}

type MissingLoginToken =
  /** `absent`: the account has no tokens. `expired`: they expired and cannot be refreshed. */
  | { readonly kind: 'absent' | 'expired' }
  /** The store or the provider does not answer. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs: number };

export type LoginToken =
  | {
      readonly kind: 'token';
      readonly accessToken: string;
      /** The latest time at which the gateway may send it. */
      readonly usableUntil: number;
      /** Null if the provider did not state an expiry. */
      readonly expiresAt: number | null;
      /** The latest ID token of this session. It may expire long before the access token. */
      readonly idToken: HiddenText | undefined;
      /** Identifies the refresh token chain of this sign-in across rotations. Undefined: there is no refresh token. */
      readonly refreshTokenId: string | undefined;
    }
  | MissingLoginToken;

export type RefreshTokenUse<T> = { readonly kind: 'used'; readonly value: T } | MissingLoginToken;

export interface LoginTokens {
  /** Stores the tokens. They are refreshed while the session lasts, and removed when it ends. */
  store(loginSession: LoginSession, tokens: FederatedTokens, sessionExpiresAt: number): Promise<void>;
  /** A usable access token, refreshed if necessary. Only if it belongs to the account's current subject. */
  current(loginSession: LoginSession): Promise<LoginToken>;
  /** Replaces a rejected access token. The vault refreshes at most once for the same token, across all replicas. */
  renew(loginSession: LoginSession, accessToken: string): Promise<LoginToken>;
  /** Exclusive use of the refresh token at the provider. */
  withRefreshToken<T>(
    loginSession: LoginSession,
    signal: Cancellation,
    work: (borrowed: BorrowedToken) => Promise<BorrowResult<T>>,
  ): Promise<RefreshTokenUse<T>>;
}

interface LoginTokenParts {
  readonly vault: Pick<CredentialVault, 'token' | 'commit' | 'recover' | 'withRefreshToken'>;
  readonly settings: Pick<OpenIdSettings, 'clientId' | 'scope'>;
  readonly metadata: Pick<ProviderMetadataSource, 'current'>;
  readonly clock: Clock;
}

/** The identity provider's tokens of each session. The vault seals them with the session as context. */
export function createLoginTokens({ vault, settings, metadata, clock }: LoginTokenParts): LoginTokens {
  return {
    async store(
      loginSession,
      { issuer, subject, accessToken, refreshToken, idToken, expiresAt },
      sessionExpiresAt,
    ) {
      const now = clock.now();
      const committed = await vault.commit({
        ...loginCredentialKey(loginSession),
        binding: loginBinding({ issuer, subject, clientId: settings.clientId }),
        endpoints: loginEndpoints(await metadata.current(), now),
        tokens: {
          ...{ accessToken, refreshToken, idToken, tokenType: 'bearer' },
          expiresInS: (expiresAt - now) / 1_000,
        },
        sentAt: now,
        scopesRequested: settings.scope,
        baseGeneration: 0,
        rowExpiresAt: sessionExpiresAt,
      });
      if (committed.kind !== 'committed')
        throw new Error('The tokens of a sign-in must be stored before its session starts');
    },
    current: async (loginSession) => toLoginToken(await vault.token(loginCredentialKey(loginSession))),
    renew: async (loginSession, accessToken) =>
      toLoginToken(await vault.recover(loginCredentialKey(loginSession), accessToken)),
    async withRefreshToken(loginSession, signal, work) {
      const outcome = await vault.withRefreshToken(loginCredentialKey(loginSession), signal, work);
      return outcome.kind === 'used' ? outcome : toMissingToken(outcome);
    },
  };
}

function toLoginToken(outcome: TokenOutcome): LoginToken {
  if (outcome.kind !== 'token') return toMissingToken(outcome);
  const { accessToken, usableUntil, expiresAt, idToken, isRenewable, id, generation } = outcome.token;
  const hidden = idToken === undefined ? undefined : new HiddenText(idToken);
  const refreshTokenId = isRenewable ? JSON.stringify([id, generation]) : undefined;
  return { kind: 'token', accessToken, usableUntil, expiresAt, idToken: hidden, refreshTokenId };
}

function toMissingToken(outcome: Exclude<TokenOutcome, { kind: 'token' }>): MissingLoginToken {
  switch (outcome.kind) {
    case 'needs_reauth':
      return { kind: ABSENT_REASONS.has(outcome.reason) ? 'absent' : 'expired' };
    case 'unavailable':
      return { kind: 'unavailable', retryAfterMs: outcome.retryAfterMs };
    case 'misconfigured':
      // Only the operator can fix the configuration. Until then, the token cannot be refreshed.
      return { kind: 'expired' };
  }
}

/** The account has no tokens, or the stored tokens belong to another subject. */
const ABSENT_REASONS: ReadonlySet<string> = new Set(['absent', 'unbound', 'unreadable', 'revoked']);

interface LoginContextParts {
  readonly settings: Pick<OpenIdSettings, 'issuer' | 'clientId' | 'clientSecret'>;
  readonly metadata: ProviderMetadataSource;
  readonly users: Pick<UserStore, 'findById'>;
  /** Must refuse redirects. */
  readonly fetch: Fetch;
}

/** Tells the vault how to refresh login tokens: at the provider, with the client that performed the login. */
export function createLoginContexts({ settings, metadata, users, fetch }: LoginContextParts): GrantContexts {
  return {
    async resolve(record) {
      const userId = userIdOfHolder(record.principal);
      const account = userId === undefined ? null : await users.findById(userId);
      // Tokens of another issuer or tenant do not belong to this account. The binding covers subject and client.
      if (account?.tenant !== record.tenant || account.issuer !== settings.issuer) return 'unbound';
      const { issuer, clientId, clientSecret } = settings;
      return {
        binding: loginBinding({ issuer, subject: account.subject, clientId }),
        client: { clientId: clientId ?? '', source: 'configured', auth: { method: 'none' } },
        ...(clientSecret !== null && {
          loadClientAuth: async () => ({
            method: selectClientAuthMethod((await metadata.current()).document),
            secret: new HiddenText(clientSecret),
          }),
        }),
        fetch,
        headers: {},
        form: {},
        profile: { rotationGraceMs: 0, revokeOnReplace: 'never' },
        rediscover: async () => loginEndpoints(await metadata.refresh(), record.issuedAt),
        reregister: async () => false,
      } satisfies GrantContext;
    },
  };
}

/** Binds the tokens to the subject of the login, in place of a server URL. */
function loginBinding(login: {
  readonly issuer: string;
  readonly subject: string;
  readonly clientId: string | null;
}): GrantBinding {
  return {
    canonicalUrl: `login:${login.subject}`,
    issuer: login.issuer,
    clientId: login.clientId ?? '',
    resource: null,
  };
}

function loginEndpoints({ document }: ProviderMetadata, fetchedAt: number): CredentialEndpoints {
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    token: text(document.token_endpoint) ?? '',
    revocation: text(document.revocation_endpoint),
    authorization: text(document.authorization_endpoint),
    fetchedAt,
  };
}

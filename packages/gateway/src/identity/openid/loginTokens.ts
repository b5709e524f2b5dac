import { type Cancellation, type Clock, type Fetch, HiddenText } from '@behalf/kernel';
import { userIdOfHolder } from '../../credentials/credentialKeys.ts';
import type { ClientAuthentication } from '../../credentials/oauth/clientAuthentication.ts';
import type { GrantBinding, GrantContext, GrantContexts } from '../../credentials/oauth/grantContext.ts';
import type {
  BorrowResult,
  BorrowedToken,
  CredentialVault,
  TokenOutcome,
} from '../../credentials/vault/vault.ts';
import type { CredentialEndpoints, UserStore } from '../../ports/index.ts';
import { loginCredentialKey } from '../signInSessions.ts';
import type { JsonDocument, OpenIdSettings, ProviderMetadata, ProviderMetadataSource } from './provider.ts';

/** What the provider gave at a login. */
export interface FederatedTokens {
  /** Whom the login proved. */
  readonly issuer: string;
  readonly subject: string;
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly idToken: string;
  /** Of the access token. */
  readonly expiresAt: number;
}

/** Whose session. */
export interface LoginSession {
  readonly tenant: string;
  readonly userId: string;
  /** Its hash. */
  readonly session: string;
}

/** `over`: it ended and could not be renewed. `unavailable`: nobody can say just now. */
export type LoginToken =
  | {
      readonly kind: 'token';
      readonly accessToken: string;
      /** Until when it may be sent off. */
      readonly usableUntil: number;
      /** Its own end; null when the provider did not say. */
      readonly expiresAt: number | null;
      /** The last one that the provider gave for this session. It may be over long before the access token is. */
      readonly idToken: HiddenText | undefined;
      /** Names the refresh token of this sign-in, whatever takes its place: two sign-ins have two. Undefined: there is none. */
      readonly refreshTokenId: string | undefined;
    }
  | { readonly kind: 'absent' | 'expired' }
  | { readonly kind: 'unavailable'; readonly retryAfterMs: number };

export interface LoginTokens {
  /** Kept until the session ends at the latest, and renewed for as long. */
  store(loginSession: LoginSession, tokens: FederatedTokens, sessionExpiresAt: number): Promise<void>;
  /** One that is good for a while, renewed if it must be. Only of the subject that the account has now. */
  current(loginSession: LoginSession): Promise<LoginToken>;
  /** Another one in the place of this: renewed now, or by a peer meanwhile. Not again and again for one that was just renewed. */
  renew(loginSession: LoginSession, accessToken: string): Promise<LoginToken>;
  /** One use of its refresh token at the provider, at a moment when nobody else uses it. */
  withRefreshToken<T>(
    loginSession: LoginSession,
    signal: Cancellation,
    work: (borrowed: BorrowedToken) => Promise<BorrowResult<T>>,
  ): Promise<RefreshTokenUse<T>>;
}

export type RefreshTokenUse<T> =
  { readonly kind: 'used'; readonly value: T } | Exclude<LoginToken, { kind: 'token' }>;

interface LoginTokenParts {
  readonly vault: Pick<CredentialVault, 'token' | 'commit' | 'recover' | 'withRefreshToken'>;
  readonly settings: Pick<OpenIdSettings, 'clientId' | 'scope'>;
  readonly metadata: Pick<ProviderMetadataSource, 'current'>;
  readonly clock: Clock;
}

/** The tokens never leave the gateway; in the store they are sealed to their session. */
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

function toMissingToken(
  outcome: Exclude<TokenOutcome, { kind: 'token' }>,
): Exclude<LoginToken, { kind: 'token' }> {
  switch (outcome.kind) {
    case 'needs_reauth':
      return { kind: ABSENT_REASONS.has(outcome.reason) ? 'absent' : 'expired' };
    case 'unavailable':
      return { kind: 'unavailable', retryAfterMs: outcome.retryAfterMs };
    case 'misconfigured':
      // The operator's to mend; until then it is as good as over.
      return { kind: 'expired' };
  }
}

/** There is none, or what is there is not this account's. */
const ABSENT_REASONS: ReadonlySet<string> = new Set(['absent', 'unbound', 'unreadable', 'revoked']);

interface LoginContextParts {
  readonly settings: Pick<OpenIdSettings, 'issuer' | 'clientId' | 'clientSecret'>;
  readonly metadata: ProviderMetadataSource;
  readonly users: Pick<UserStore, 'findById'>;
  /** To the provider: refuses redirects. */
  readonly fetch: Fetch;
}

/** How the tokens of sign-ins are renewed: at the provider, as the client that signed people in. */
export function createLoginContexts({ settings, metadata, users, fetch }: LoginContextParts): GrantContexts {
  return {
    async resolve(record) {
      const userId = userIdOfHolder(record.principal);
      const account = userId === undefined ? null : await users.findById(userId);
      // What was given for another subject, or to another client, is not this account's.
      if (account?.tenant !== record.tenant || account.issuer !== settings.issuer) return 'unbound';
      const { clientSecret } = settings;
      return {
        binding: loginBinding({
          issuer: settings.issuer,
          subject: account.subject,
          clientId: settings.clientId,
        }),
        client: {
          clientId: settings.clientId ?? '',
          source: 'configured',
          auth: { method: 'none' },
        },
        ...(clientSecret !== null && {
          loadClientAuth: async () => toClientProof(clientSecret, (await metadata.current()).document),
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

/** In the place of an address: whom it speaks of. */
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

/** The body first where both are offered, as at the sign-in itself. */
function toClientProof(
  secret: string,
  { token_endpoint_auth_methods_supported: supported }: JsonDocument,
): ClientAuthentication {
  const methods: readonly unknown[] = Array.isArray(supported) ? supported : ['client_secret_basic'];
  const method = methods.includes('client_secret_post') ? 'client_secret_post' : 'client_secret_basic';
  return { method, secret: new HiddenText(secret) };
}

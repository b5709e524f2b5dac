import { createHash } from 'node:crypto';
import { scopeList } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { CredentialKey } from '../ports/index.ts';
import type { Principal } from '../principal/principal.ts';
import { type AppServer, type UserServer, usesClientCredentialsGrant } from '../definitions/definition.ts';
import { type AppBearer, type Bearer, type WireToken, ownedByApp } from '../upstream/target.ts';
import type { Challenge } from '../upstream/upstreamError.ts';
import { APP_HOLDER, credentialHolder } from '../principal/credentialHolder.ts';
import type { CredentialSelector } from './credentialSelector.ts';
import { toWireToken } from './oauth/dpop.ts';
import type { TokenRequestBudget } from './obo/bearer.ts';
import { SignInRequired } from './signInRequired.ts';
import type { CredentialVault, TokenOutcome, VaultToken } from './vault/vault.ts';

export const DEFAULT_LABEL = 'default';

type TokenSource = Pick<CredentialVault, 'peek' | 'token' | 'recover'>;

/** A user's own token for a server, for one call. */
export interface UserToken {
  readonly bearer: Bearer;
  /** Identifies the grant. A refresh does not change it. */
  readonly grantHash: string;
  readonly key: CredentialKey;
  /** The only URL that may receive the token. */
  readonly canonicalUrl: string;
}

interface OAuthTokenParts {
  readonly vault: TokenSource;
  readonly selector: Pick<CredentialSelector, 'select'>;
}

/** Whether a user who never signed in may call the server. */
export function canCallWithoutToken({ settings, auth }: UserServer): boolean {
  return auth !== 'oauth' || settings.auth === 'optional';
}

export type OAuthTokens = ReturnType<typeof createOAuthTokens>;

/** The tokens of users who signed in at servers. */
export function createOAuthTokens({ vault, selector }: OAuthTokenParts) {
  /** A hash per token object: the hot path computes none. */
  const grantHashes = new WeakMap<VaultToken, string>();

  function toGrantHash(token: VaultToken): string {
    let hash = grantHashes.get(token);
    if (hash === undefined) {
      const { id, generation } = token;
      hash = createHash('sha256')
        .update(JSON.stringify([id, generation]))
        .digest('base64url');
      grantHashes.set(token, hash);
    }
    return hash;
  }

  const toUserToken = (key: CredentialKey, token: VaultToken, budget: TokenRequestBudget): UserToken => ({
    bearer: createVaultBearer(vault, key, token, budget),
    grantHash: toGrantHash(token),
    key,
    canonicalUrl: token.canonicalUrl,
  });

  return {
    /**
     * This user's token for this server. Null: the user never signed in and the server may be called without a token.
     * Throws `SignInRequired` if the user must act, otherwise a `GatewayError`. With `label`: only that credential.
     */
    obtain: (
      server: UserServer,
      principal: Principal,
      budget: TokenRequestBudget,
      label?: string,
    ): UserToken | null | Promise<UserToken | null> =>
      // Service principals cannot sign in: they have no credential, like users who never signed in.
      chain(selector.select(server, principal, label), (key) => {
        if (key) return chain(currentToken(vault, key), (token) => toUserToken(key, token, budget));
        if (label === undefined && canCallWithoutToken(server)) return null;
        throw new SignInRequired('absent');
      }),
  };
}

/** Continues synchronously if the value is there: a warm call allocates no promise. */
function chain<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

function currentToken(vault: TokenSource, key: CredentialKey): VaultToken | Promise<VaultToken> {
  return vault.peek(key) ?? vault.token(key).then(tokenOrThrow);
}

/** The key of a user's credential at a server. */
export function userCredentialKey(
  { id: serverId }: Pick<UserServer, 'id'>,
  principal: Principal,
  kind: 'oauth_code' | 'static',
  label: string = DEFAULT_LABEL,
): CredentialKey {
  return { tenant: principal.tenant, principal: credentialHolder(principal), serverId, kind, label };
}

/** Throws what the user or the operator must do if there is no token. */
export function tokenOrThrow(outcome: TokenOutcome): VaultToken {
  switch (outcome.kind) {
    case 'token':
      return outcome.token;
    case 'needs_reauth':
      throw new SignInRequired(outcome.reason, outcome);
    case 'unavailable':
      throw new GatewayError('UPSTREAM_AUTH_UNAVAILABLE', { retryAfterMs: outcome.retryAfterMs });
    case 'misconfigured':
      throw new GatewayError('UPSTREAM_AUTH_MISCONFIGURED');
  }
}

/** The token of one call. It knows only access tokens that the vault provided for this call. */
function createVaultBearer(
  vault: TokenSource,
  key: CredentialKey,
  first: VaultToken,
  budget: TokenRequestBudget,
): Bearer {
  let presented = first;
  let isReplaced = false;
  /** Every token of the call: a server may echo one that was refreshed during the call. */
  const presentedTokens = new Set([first.accessToken]);

  function setPresented(token: VaultToken): void {
    isReplaced = token.generation !== first.generation;
    presented = token;
    presentedTokens.add(token.accessToken);
  }

  function presentToken(token: VaultToken): WireToken {
    setPresented(token);
    // A sign-in during the call is another grant. The connection belongs to the previous one.
    if (isReplaced) throw new SignInRequired('revoked', { credentialId: token.id });
    return toWireToken(token);
  }

  return {
    token: () => chain(currentToken(vault, key), presentToken),
    async renew() {
      const refusedToken = presented.accessToken;
      // Also on the second refusal: the vault then records that no token is accepted.
      const outcome = await vault.recover(key, refusedToken);
      if (budget.isRenewed) {
        if (outcome.kind === 'needs_reauth') tokenOrThrow(outcome);
        return false;
      }
      budget.isRenewed = true;
      const token = tokenOrThrow(outcome);
      if (token.accessToken === refusedToken) return false;
      setPresented(token);
      return true;
    },
    hasRenewed: () => budget.isRenewed,
    isSuperseded: () => isReplaced,
    presentedTokens: () => [...presentedTokens],
    toScopeError: (challenge) => toStepUpError(presented, challenge, [...presentedTokens]),
  };
}

/** The error for `insufficient_scope`: the next sign-in requests the granted and the missing scopes. */
function toStepUpError(
  { id, scopes, scopesRequested }: VaultToken,
  challenge: Challenge | undefined,
  presentedTokens: readonly string[],
): SignInRequired | undefined {
  const grantedScopes = scopeList(scopes);
  const requestedScopes = scopeList(scopesRequested);
  // A server may echo the token as a scope. It must not appear in a result or a URL.
  const containsToken = (scope: string) => presentedTokens.some((token) => scope.includes(token));
  const challengedScopes = scopeList(challenge?.scope ?? '').filter((scope) => !containsToken(scope));
  // Already granted, or requested and not granted: another sign-in would not help.
  if (challengedScopes.every((scope) => grantedScopes.includes(scope) || requestedScopes.includes(scope)))
    return undefined;
  const allScopes = [...new Set([...grantedScopes, ...challengedScopes])].sort().join(' ');
  return new SignInRequired('insufficient_scope', { credentialId: id, scopes: allScopes });
}

export type AppTokens = ReturnType<typeof createAppTokens>;

/** The gateway's own tokens (`client_credentials`) for servers that all users share. */
export function createAppTokens(vault: TokenSource) {
  return {
    /** For one call. Undefined if the server does not use `client_credentials`. */
    bearerFor(
      server: AppServer,
      budget: TokenRequestBudget,
    ): AppBearer | undefined | Promise<AppBearer | undefined> {
      if (!usesClientCredentialsGrant(server.settings)) return undefined;
      const key = appCredentialKey(server.id, server.tenant);
      return chain(currentToken(vault, key), (token) =>
        asAppBearer(createVaultBearer(vault, key, token, budget)),
      );
    },
    /** For the connection itself: handshake, event stream, close. */
    connectionBearer(serverId: string, tenant: string): AppBearer {
      const key = appCredentialKey(serverId, tenant);
      return asAppBearer({
        token: () => chain(currentToken(vault, key), toWireToken),
        // A refused call refreshes the token. Requests that keep a connection alive use the current one.
        renew: () => Promise.resolve(false),
        hasRenewed: () => false,
        presentedTokens: () => [vault.peek(key)?.accessToken].filter((text) => text !== undefined),
      });
    },
  };
}

export function appCredentialKey(serverId: string, tenant: string): CredentialKey {
  return { tenant, principal: APP_HOLDER, serverId, kind: 'client_credentials', label: DEFAULT_LABEL };
}

/** The only place that marks a bearer as the gateway's own, and thus usable on shared connections. */
function asAppBearer(bearer: Bearer): AppBearer {
  return { ...bearer, [ownedByApp]: true };
}

import { createHash } from 'node:crypto';
import { scopeList } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { CredentialKey } from '../ports/index.ts';
import type { Principal } from '../principal/principal.ts';
import { type AppServer, type UserServer, usesClientCredentialsGrant } from '../servers/definition.ts';
import { type AppBearer, type Bearer, type WireToken, ownedByApp } from '../upstream/target.ts';
import type { Challenge } from '../upstream/upstreamError.ts';
import { APP_HOLDER, credentialHolder } from './credentialKeys.ts';
import type { CredentialSelector } from './credentialSelector.ts';
import { toWireToken } from './oauth/dpop.ts';
import type { TokenRequestBudget } from './obo/bearer.ts';
import { SignInRequired } from './signInRequired.ts';
import type { CredentialVault, TokenOutcome, VaultToken } from './vault/vault.ts';

export const DEFAULT_LABEL = 'default';

/** A user's own token at a server, for one call. */
export interface UserToken {
  readonly bearer: Bearer;
  /** Changes with the grant, and not with a token that is merely renewed. */
  readonly grantHash: string;
  readonly key: CredentialKey;
  /** The only address that it may be presented to. */
  readonly canonicalUrl: string;
}

export interface OAuthTokens {
  /**
   * This user's token for this server. Null: they never had one, and the server may be asked without. Throws `SignInRequired`
   * when they have to act, and what is somebody else's to mend as a `GatewayError`. `label`: of which credential; one that is
   * not there is absent, and nothing takes its place.
   */
  obtain(
    server: UserServer,
    principal: Principal,
    budget: TokenRequestBudget,
    label?: string,
  ): UserToken | null | Promise<UserToken | null>;
}

interface OAuthTokenParts {
  readonly vault: Pick<CredentialVault, 'peek' | 'token' | 'recover'>;
  readonly selector: Pick<CredentialSelector, 'select'>;
}

/** Whether a user who never signed in at it may call it all the same. */
export function canCallWithoutToken({ settings, auth }: UserServer): boolean {
  return auth !== 'oauth' || settings.auth === 'optional';
}

export function createOAuthTokens({ vault, selector }: OAuthTokenParts): OAuthTokens {
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

  async function obtainToken(
    key: CredentialKey | undefined,
    server: UserServer,
    budget: TokenRequestBudget,
    label: string | undefined,
  ): Promise<UserToken | null> {
    if (!key) {
      if (label === undefined && canCallWithoutToken(server)) return null;
      throw new SignInRequired('absent');
    }
    const token = vault.peek(key) ?? tokenOrThrow(await vault.token(key));
    return toUserToken(key, token, budget);
  }

  return {
    obtain(server, principal, budget, label) {
      // Programs have nobody who could sign in: they are told so like everybody who never did.
      const key = selector.select(server, principal, label);
      if (key instanceof Promise) return key.then((found) => obtainToken(found, server, budget, label));
      const token = key && vault.peek(key);
      return key && token ? toUserToken(key, token, budget) : obtainToken(key, server, budget, label);
    },
  };
}

/** Where the tokens of a user at a server are kept. */
export function userCredentialKey(
  { id: serverId }: Pick<UserServer, 'id'>,
  principal: Principal,
  kind: 'oauth_code' | 'static',
  label: string = DEFAULT_LABEL,
): CredentialKey {
  return { tenant: principal.tenant, principal: credentialHolder(principal), serverId, kind, label };
}

/** The token, or what its user, the operator or nobody but time can do about it. */
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

/** One call's way to its token. It never holds more than the access tokens that it was given to present. */
function createVaultBearer(
  vault: Pick<CredentialVault, 'peek' | 'token' | 'recover'>,
  key: CredentialKey,
  first: VaultToken,
  budget: TokenRequestBudget,
): Bearer {
  let presented = first;
  let isReplaced = false;
  /** All of them: a server may repeat one that was replaced in the middle of the call. */
  const presentedTokens = new Set([first.accessToken]);

  function setPresented(token: VaultToken): void {
    isReplaced = token.generation !== first.generation;
    presented = token;
    presentedTokens.add(token.accessToken);
  }

  function presentToken(token: VaultToken): WireToken {
    setPresented(token);
    // A login meanwhile is another grant: its token is not for a connection that was opened with the one before.
    if (isReplaced) throw new SignInRequired('revoked', { credentialId: token.id });
    return toWireToken(token);
  }

  return {
    token() {
      const current = vault.peek(key);
      return current
        ? presentToken(current)
        : vault.token(key).then((outcome) => presentToken(tokenOrThrow(outcome)));
    },
    async renew() {
      const refusedToken = presented.accessToken;
      // The vault learns of it also the second time: then no token is the answer.
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

/** What a sign-in has to ask for so that the server is content: all that it had, and what is missing. */
function toStepUpError(
  { id, scopes, scopesRequested }: VaultToken,
  challenge: Challenge | undefined,
  presentedTokens: readonly string[],
): SignInRequired | undefined {
  const grantedScopes = scopeList(scopes);
  const requestedScopes = scopeList(scopesRequested);
  // A server that repeats the token it was shown names no scope: it would stand in the result, and in an address.
  const containsToken = (scope: string) => presentedTokens.some((token) => scope.includes(token));
  const challengedScopes = scopeList(challenge?.scope ?? '').filter((scope) => !containsToken(scope));
  // Granted and refused all the same, or asked for and not granted: another sign-in would change nothing.
  if (challengedScopes.every((scope) => grantedScopes.includes(scope) || requestedScopes.includes(scope)))
    return undefined;
  const allScopes = [...new Set([...grantedScopes, ...challengedScopes])].sort().join(' ');
  return new SignInRequired('insufficient_scope', { credentialId: id, scopes: allScopes });
}

/** Tokens of ours (`client_credentials`) for servers that everybody shares. */
export interface AppTokens {
  /** For one call; undefined where the server is not called with one. */
  bearerFor(
    server: AppServer,
    budget: TokenRequestBudget,
  ): AppBearer | undefined | Promise<AppBearer | undefined>;
  /** For the connection itself: its handshake, its stream, its farewell. */
  connectionBearer(serverId: string, tenant: string): AppBearer;
}

export function createAppTokens(vault: Pick<CredentialVault, 'peek' | 'token' | 'recover'>): AppTokens {
  const createBearer = (key: CredentialKey, token: VaultToken, budget: TokenRequestBudget) =>
    asAppBearer(createVaultBearer(vault, key, token, budget));

  return {
    bearerFor(server, budget) {
      if (!usesClientCredentialsGrant(server.settings)) return undefined;
      const key = appCredentialKey(server.id, server.tenant);
      const token = vault.peek(key);
      if (token) return createBearer(key, token, budget);
      return vault.token(key).then((outcome) => createBearer(key, tokenOrThrow(outcome), budget));
    },
    connectionBearer(serverId, tenant) {
      const key = appCredentialKey(serverId, tenant);
      const token = () => {
        const current = vault.peek(key);
        return current
          ? toWireToken(current)
          : vault.token(key).then((outcome) => toWireToken(tokenOrThrow(outcome)));
      };
      return asAppBearer({
        token,
        // A call that is refused renews; what merely keeps a connection alive asks for what there is.
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

/** The one place where a token is said to be everybody's: its key names nobody. */
function asAppBearer(bearer: Bearer): AppBearer {
  return { ...bearer, [ownedByApp]: true };
}

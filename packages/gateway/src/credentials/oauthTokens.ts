import { createHash } from 'node:crypto';
import { scopeList } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { CredentialKey } from '../ports/index.ts';
import type { Principal } from '../principal/principal.ts';
import type { UserServer } from '../registry/server.ts';
import type { Bearer, Token } from '../upstream/target.ts';
import type { Challenge } from '../upstream/upstreamError.ts';
import type { ChosenCredentials } from './chosenCredential.ts';
import { credentialHolder } from './credentialHolder.ts';
import type { Purse } from './obo/oboTokens.ts';
import { presentable } from './presentable.ts';
import { SignInRequired } from './signInRequired.ts';
import type { CredentialVault, HeldToken, TokenOutcome } from './vault/vault.ts';

export const DEFAULT_LABEL = 'default';

/** A user's own token at a server, for one call. */
export interface OwnToken {
  readonly bearer: Bearer;
  /** Changes with the grant, and not with a token that is merely renewed. */
  readonly grant: string;
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
    purse: Purse,
    label?: string,
  ): OwnToken | null | Promise<OwnToken | null>;
}

export interface OAuthTokenParts {
  readonly vault: Pick<CredentialVault, 'peek' | 'token' | 'recover'>;
  readonly chosen: Pick<ChosenCredentials, 'of'>;
}

/** Whether a user who never signed in at it may call it all the same. */
export function mayGoBare({ settings, auth }: UserServer): boolean {
  return auth !== 'oauth' || settings.auth === 'optional';
}

export function createOAuthTokens({ vault, chosen }: OAuthTokenParts): OAuthTokens {
  const grants = new WeakMap<HeldToken, string>();

  function grantOf(held: HeldToken): string {
    let grant = grants.get(held);
    if (grant === undefined) {
      const { id, generation } = held;
      grant = createHash('sha256')
        .update(JSON.stringify([id, generation]))
        .digest('base64url');
      grants.set(held, grant);
    }
    return grant;
  }

  const own = (key: CredentialKey, held: HeldToken, purse: Purse): OwnToken => ({
    bearer: createVaultBearer(vault, key, held, purse),
    grant: grantOf(held),
    key,
    canonicalUrl: held.canonicalUrl,
  });

  async function ask(
    key: CredentialKey | undefined,
    server: UserServer,
    purse: Purse,
    label: string | undefined,
  ): Promise<OwnToken | null> {
    if (!key) {
      if (label === undefined && mayGoBare(server)) return null;
      throw new SignInRequired('absent');
    }
    const held = vault.peek(key) ?? heldOrThrow(await vault.token(key));
    return own(key, held, purse);
  }

  return {
    obtain(server, principal, purse, label) {
      // Programs have nobody who could sign in: they are told so like everybody who never did.
      const key = chosen.of(server, principal, label);
      if (key instanceof Promise) return key.then((found) => ask(found, server, purse, label));
      const held = key && vault.peek(key);
      return key && held ? own(key, held, purse) : ask(key, server, purse, label);
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
export function heldOrThrow(outcome: TokenOutcome): HeldToken {
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
export function createVaultBearer(
  vault: Pick<CredentialVault, 'peek' | 'token' | 'recover'>,
  key: CredentialKey,
  first: HeldToken,
  purse: Purse,
): Bearer {
  let presented = first;
  let isReplaced = false;
  /** All of them: a server may repeat one that was replaced in the middle of the call. */
  const shown = new Set([first.accessToken]);

  function take(held: HeldToken): void {
    isReplaced = held.generation !== first.generation;
    presented = held;
    shown.add(held.accessToken);
  }

  function present(held: HeldToken): Token {
    take(held);
    // A login meanwhile is another grant: its token is not for a connection that was opened with the one before.
    if (isReplaced) throw new SignInRequired('revoked', { credentialId: held.id });
    return presentable(held);
  }

  return {
    token() {
      const held = vault.peek(key);
      return held ? present(held) : vault.token(key).then((outcome) => present(heldOrThrow(outcome)));
    },
    async renew() {
      const refused = presented.accessToken;
      // The vault learns of it also the second time: then no token is the answer.
      const outcome = await vault.recover(key, refused);
      if (purse.renewed) {
        if (outcome.kind === 'needs_reauth') heldOrThrow(outcome);
        return false;
      }
      purse.renewed = true;
      const held = heldOrThrow(outcome);
      if (held.accessToken === refused) return false;
      take(held);
      return true;
    },
    isRenewed: () => purse.renewed,
    isReplaced: () => isReplaced,
    shown: () => [...shown],
    widen: (challenge) => wider(presented, challenge, [...shown]),
  };
}

/** What a sign-in has to ask for so that the server is content: all that it had, and what is missing. */
function wider(
  { id, scopes, scopesRequested }: HeldToken,
  challenge: Challenge | undefined,
  shown: readonly string[],
): SignInRequired | undefined {
  const had = scopeList(scopes);
  const asked = scopeList(scopesRequested);
  // A server that repeats the token it was shown names no scope: it would stand in the result, and in an address.
  const isShown = (scope: string) => shown.some((token) => scope.includes(token));
  const wanted = scopeList(challenge?.scope ?? '').filter((scope) => !isShown(scope));
  // Granted and refused all the same, or asked for and not granted: another sign-in would change nothing.
  if (wanted.every((scope) => had.includes(scope) || asked.includes(scope))) return undefined;
  const union = [...new Set([...had, ...wanted])].sort().join(' ');
  return new SignInRequired('insufficient_scope', { credentialId: id, scopes: union });
}

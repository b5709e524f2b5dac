import type { CredentialKey } from '../ports/index.ts';
import type { AppServer } from '../registry/server.ts';
import { usesClientCredentialsGrant } from '../registry/scope.ts';
import { ownedByApp, type AppBearer, type Bearer } from '../upstream/target.ts';
import { APP_HOLDER } from './credentialHolder.ts';
import { createVaultBearer, DEFAULT_LABEL, tokenOrThrow } from './oauthTokens.ts';
import { toWireToken } from './wireToken.ts';
import type { TokenRequestBudget } from './obo/oboTokens.ts';
import type { CredentialVault, VaultToken } from './vault/vault.ts';

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

import type { CredentialKey } from '../ports/index.ts';
import type { AppServer } from '../registry/server.ts';
import { usesOwnGrant } from '../registry/scope.ts';
import { ownedByApp, type AppBearer, type Bearer } from '../upstream/target.ts';
import { APP_HOLDER } from './credentialHolder.ts';
import { createVaultBearer, DEFAULT_LABEL, heldOrThrow } from './oauthTokens.ts';
import { presentable } from './presentable.ts';
import type { Purse } from './obo/oboTokens.ts';
import type { CredentialVault, HeldToken } from './vault/vault.ts';

/** Tokens of ours (`client_credentials`) for servers that everybody shares. */
export interface AppTokens {
  /** For one call; undefined where the server is not called with one. */
  bearerFor(server: AppServer, purse: Purse): AppBearer | undefined | Promise<AppBearer | undefined>;
  /** For the connection itself: its handshake, its stream, its farewell. */
  connectionBearer(serverId: string, tenant: string): AppBearer;
}

export function createAppTokens(vault: Pick<CredentialVault, 'peek' | 'token' | 'recover'>): AppTokens {
  const own = (key: CredentialKey, held: HeldToken, purse: Purse) =>
    asAppBearer(createVaultBearer(vault, key, held, purse));

  return {
    bearerFor(server, purse) {
      if (!usesOwnGrant(server.settings)) return undefined;
      const key = appKey(server.id, server.tenant);
      const held = vault.peek(key);
      if (held) return own(key, held, purse);
      return vault.token(key).then((outcome) => own(key, heldOrThrow(outcome), purse));
    },
    connectionBearer(serverId, tenant) {
      const key = appKey(serverId, tenant);
      const token = () => {
        const held = vault.peek(key);
        return held
          ? presentable(held)
          : vault.token(key).then((outcome) => presentable(heldOrThrow(outcome)));
      };
      return asAppBearer({
        token,
        // A call that is refused renews; what merely keeps a connection alive asks for what there is.
        renew: () => Promise.resolve(false),
        isRenewed: () => false,
        shown: () => [vault.peek(key)?.accessToken].filter((text) => text !== undefined),
      });
    },
  };
}

export function appKey(serverId: string, tenant: string): CredentialKey {
  return { tenant, principal: APP_HOLDER, serverId, kind: 'client_credentials', label: DEFAULT_LABEL };
}

/** The one place where a token is said to be everybody's: its key names nobody. */
function asAppBearer(bearer: Bearer): AppBearer {
  return { ...bearer, [ownedByApp]: true };
}

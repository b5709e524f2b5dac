import type { CredentialStore, OAuthClientStore, OAuthFlowStore } from '../../ports/index.ts';
import type { ServerSnapshot } from '../../registry/server.ts';
import type { CredentialVault } from '../vault/vault.ts';
import type { RetiringServers } from './retiringServers.ts';

/** What users have at a server, for when it goes. */
export interface ServerGrants {
  /**
   * Ends all of it, and what is under way: here before it resolves, then at the authorization server. `was`: the server as it was
   * defined, without which nobody could be told.
   */
  removeAll(tenant: string, server: ServerSnapshot): Promise<void>;
  /** The same where its definition is lost: here all of it ends, and who is still known is told. */
  removeWithoutDefinition(tenant: string, serverId: string): Promise<void>;
}

export interface ServerGrantParts {
  readonly vault: Pick<CredentialVault, 'remove'>;
  readonly credentials: Pick<CredentialStore, 'listKeysByServer'>;
  readonly flows: Pick<OAuthFlowStore, 'removeByServer'>;
  readonly clients: Pick<OAuthClientStore, 'removeByServer'>;
  readonly retiring: RetiringServers;
}

const BATCH_SIZE = 20;

export function createServerGrants(parts: ServerGrantParts): ServerGrants {
  const { vault, credentials, flows, clients, retiring } = parts;

  async function removeGrants(tenant: string, serverId: string, server?: ServerSnapshot): Promise<void> {
    // First: what is under way would bring another credential.
    await flows.removeByServer(tenant, serverId);
    const unregister = server && retiring.add(tenant, server);
    try {
      for (;;) {
        const keys = await credentials.listKeysByServer(tenant, serverId, BATCH_SIZE);
        if (keys.length === 0) break;
        await Promise.all(keys.map((key) => vault.remove(key)));
      }
    } finally {
      unregister?.();
    }
    await clients.removeByServer(tenant, serverId);
  }

  return {
    removeAll: (tenant, server) => removeGrants(tenant, server.id, server),
    removeWithoutDefinition: (tenant, serverId) => removeGrants(tenant, serverId),
  };
}

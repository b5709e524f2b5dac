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
  endAll(tenant: string, was: ServerSnapshot): Promise<void>;
  /** The same where its definition is lost: here all of it ends, and who is still known is told. */
  endLost(tenant: string, serverId: string): Promise<void>;
}

export interface ServerGrantParts {
  readonly vault: Pick<CredentialVault, 'end'>;
  readonly credentials: Pick<CredentialStore, 'keysOfServer'>;
  readonly flows: Pick<OAuthFlowStore, 'removeOfServer'>;
  readonly clients: Pick<OAuthClientStore, 'removeOfServer'>;
  readonly retiring: RetiringServers;
}

const AT_ONCE = 20;

export function createServerGrants(parts: ServerGrantParts): ServerGrants {
  const { vault, credentials, flows, clients, retiring } = parts;

  async function end(tenant: string, serverId: string, was?: ServerSnapshot): Promise<void> {
    // First: what is under way would bring another credential.
    await flows.removeOfServer(tenant, serverId);
    const leave = was && retiring.enter(tenant, was);
    try {
      for (;;) {
        const some = await credentials.keysOfServer(tenant, serverId, AT_ONCE);
        if (some.length === 0) break;
        await Promise.all(some.map((key) => vault.end(key)));
      }
    } finally {
      leave?.();
    }
    await clients.removeOfServer(tenant, serverId);
  }

  return {
    endAll: (tenant, was) => end(tenant, was.id, was),
    endLost: (tenant, serverId) => end(tenant, serverId),
  };
}

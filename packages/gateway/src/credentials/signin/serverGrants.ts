import { GatewayError } from '../../errors/gatewayError.ts';
import type {
  CredentialRecord,
  CredentialStore,
  OAuthClientStore,
  OAuthFlowStore,
} from '../../ports/index.ts';
import { type ServerSnapshot, mayRequireOAuth } from '../../servers/definition.ts';
import type { OAuthClients } from '../oauth/clients.ts';
import type { OAuthDiscovery } from '../oauth/discovery.ts';
import { type SignInServers, resolveSignInTarget } from '../oauth/signInTarget.ts';
import type { CredentialVault } from '../vault/vault.ts';

interface GrantForParts {
  readonly servers: Pick<SignInServers, 'readHolderValues'>;
  readonly discovery: Pick<OAuthDiscovery, 'discover'>;
  readonly clients: Pick<OAuthClients, 'resolveClient'>;
}

/**
 * Whether a grant was given for what this server is and by whom it names, all of it asked anew: its address, its issuer, the client that
 * we are there, the resource. What cannot be found out is no.
 */
export async function isGrantForServer(
  { servers, discovery, clients }: GrantForParts,
  server: ServerSnapshot,
  { tenant, principal, canonicalUrl, issuer, clientId, resource }: CredentialRecord,
): Promise<boolean> {
  if (!mayRequireOAuth(server)) return false;
  const target = await resolveSignInTarget(servers, server, { tenant, holder: principal });
  if (target?.canonicalUrl !== canonicalUrl) return false;
  try {
    const discovered = await discovery.discover(target);
    if (discovered.asMetadata.issuer !== issuer || discovered.resource !== resource) return false;
    const client = await clients.resolveClient(
      { tenant, target, issuer, asMetadata: discovered.asMetadata },
      clientId,
    );
    return client.clientId === clientId;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}

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

interface ServerGrantParts {
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

/** Servers that are going: nobody finds them any more, but what was given for them is still to be revoked. */
export interface RetiringServers {
  get(tenant: string, serverId: string): ServerSnapshot | undefined;
  /** Until the answer is called. */
  add(tenant: string, server: ServerSnapshot): () => void;
}

export function createRetiringServers(): RetiringServers {
  const servers = new Map<string, ServerSnapshot>();
  const keyOf = (tenant: string, id: string) => JSON.stringify([tenant, id]);
  return {
    get: (tenant, serverId) => servers.get(keyOf(tenant, serverId)),
    add(tenant, server) {
      const key = keyOf(tenant, server.id);
      servers.set(key, server);
      return () => void (servers.get(key) === server && servers.delete(key));
    },
  };
}

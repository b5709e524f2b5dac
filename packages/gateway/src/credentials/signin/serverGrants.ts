import { GatewayError } from '../../errors/gatewayError.ts';
import type {
  CredentialRecord,
  CredentialStore,
  OAuthClientStore,
  OAuthFlowStore,
} from '../../ports/index.ts';
import { type ServerSnapshot, mayRequireOAuth } from '../../definitions/definition.ts';
import { resolveSignInTarget } from '../oauth/signInTarget.ts';
import type { CredentialVault } from '../vault/vault.ts';
import type { OAuthFlowParts } from './flow.ts';

/**
 * Whether a grant fits the current definition of the server: address, issuer, client and resource. Runs discovery.
 * False if discovery fails.
 */
export async function isGrantForServer(
  { servers, discovery, clients }: Pick<OAuthFlowParts, 'servers' | 'discovery' | 'clients'>,
  server: ServerSnapshot,
  { tenant, principal, canonicalUrl, issuer, clientId, resource }: CredentialRecord,
): Promise<boolean> {
  if (!mayRequireOAuth(server)) return false;
  const target = await resolveSignInTarget(servers, server, { tenant, holder: principal });
  if (target?.canonicalUrl !== canonicalUrl) return false;
  try {
    const { asMetadata, resource: currentResource } = await discovery.discover(target);
    if (asMetadata.issuer !== issuer || currentResource !== resource) return false;
    const client = await clients.resolveClient({ tenant, target, issuer, asMetadata }, clientId);
    return client.clientId === clientId;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}

interface ServerGrantParts {
  readonly vault: Pick<CredentialVault, 'remove'>;
  readonly credentials: Pick<CredentialStore, 'listKeysByServer'>;
  readonly flows: Pick<OAuthFlowStore, 'removeByServer'>;
  readonly clients: Pick<OAuthClientStore, 'removeByServer'>;
  readonly retiring: RetiringServers;
}

const BATCH_SIZE = 20;

export type ServerGrants = ReturnType<typeof createServerGrants>;

/** Removes the grants of all users at a server that is being deleted. */
export function createServerGrants(parts: ServerGrantParts) {
  const { vault, credentials, flows, clients, retiring } = parts;

  async function removeGrants(tenant: string, serverId: string, server?: ServerSnapshot): Promise<void> {
    // Flows first: a pending sign-in would create another credential.
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
    /** Deletes grants and flows before it resolves. Revocation, which needs the definition, continues afterwards. */
    removeAll: (tenant: string, server: ServerSnapshot): Promise<void> =>
      removeGrants(tenant, server.id, server),
    /** If the definition is lost: deletes everything and revokes only where that is still possible. */
    removeWithoutDefinition: (tenant: string, serverId: string): Promise<void> =>
      removeGrants(tenant, serverId),
  };
}

export type RetiringServers = ReturnType<typeof createRetiringServers>;

/** Definitions of servers that are being deleted, for the revocation of their grants. */
export function createRetiringServers() {
  const servers = new Map<string, ServerSnapshot>();
  const keyOf = (tenant: string, id: string) => JSON.stringify([tenant, id]);
  return {
    get: (tenant: string, serverId: string): ServerSnapshot | undefined =>
      servers.get(keyOf(tenant, serverId)),
    /** Returns a function that removes the server. */
    add(tenant: string, server: ServerSnapshot): () => void {
      const key = keyOf(tenant, server.id);
      servers.set(key, server);
      return () => void (servers.get(key) === server && servers.delete(key));
    },
  };
}

import type { CredentialRecord } from '../../ports/index.ts';
import type { ServerSnapshot } from '../../registry/server.ts';
import { mayRequireOAuth } from '../../registry/mayRequireOAuth.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { OAuthDiscovery } from './discovery/discovery.ts';
import type { OAuthClients } from './registration/clients.ts';
import { resolveSignInTarget, type SignInServers } from './signInServers.ts';

export interface GrantForParts {
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

import type { CredentialRecord } from '../../ports/index.ts';
import type { ServerSnapshot } from '../../registry/server.ts';
import { couldSignIn } from '../../registry/couldSignIn.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Discovery } from './discovery/discovery.ts';
import type { OAuthClients } from './registration/clients.ts';
import { targetFor, type SignInServers } from './signInServers.ts';

export interface GrantForParts {
  readonly servers: Pick<SignInServers, 'valuesOf'>;
  readonly discovery: Pick<Discovery, 'discover'>;
  readonly clients: Pick<OAuthClients, 'now'>;
}

/**
 * Whether a grant was given for what this server is and by whom it names, all of it asked anew: its address, its issuer, the client that
 * we are there, the resource. What cannot be found out is no.
 */
export async function isGrantFor(
  { servers, discovery, clients }: GrantForParts,
  server: ServerSnapshot,
  { tenant, principal, canonicalUrl, issuer, clientId, resource }: CredentialRecord,
): Promise<boolean> {
  if (!couldSignIn(server)) return false;
  const target = await targetFor(servers, server, { tenant, holder: principal });
  if (target?.canonicalUrl !== canonicalUrl) return false;
  try {
    const found = await discovery.discover(target);
    if (found.as.issuer !== issuer || found.resource !== resource) return false;
    const client = await clients.now({ tenant, target, issuer, as: found.as }, clientId);
    return client.clientId === clientId;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}

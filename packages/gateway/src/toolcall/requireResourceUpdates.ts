import { createSubscriptionUnsupportedError } from '../subscriptions/upstreamSubscription.ts';
import { resolveAllowedServer, prepareCredential, type SendParts } from './sendToServer.ts';
import type { Inbound } from './inbound.ts';
import { cannotSubscribe, supportsResourceUpdates } from './subscriptionSupport.ts';
import { leaseConnection } from './leaseConnection.ts';
import { toCallerError } from './toCallerError.ts';

/**
 * Throws unless this caller can be told of updated resources at this server. The stream on which they are told may open
 * later, and at another replica: what it could not keep is not promised here.
 */
export async function requireResourceUpdates(
  parts: SendParts,
  name: string,
  inbound: Inbound,
): Promise<void> {
  const server = resolveAllowedServer(parts, inbound, name, 'MCP_RESOURCE_NOT_FOUND');
  try {
    if (cannotSubscribe(server)) throw createSubscriptionUnsupportedError();
    const prepared = await prepareCredential(parts, server, inbound);
    const lease = await leaseConnection(parts.connections, prepared, { signal: inbound.signal });
    const { claims } = lease.upstream;
    // No UpstreamError: nothing was sent, which says nothing of the server.
    lease.release(new DOMException('The connection was only inspected', 'AbortError'));
    if (!supportsResourceUpdates(claims)) throw createSubscriptionUnsupportedError();
  } catch (error) {
    throw toCallerError(error, server);
  }
}

import { createSubscriptionUnsupportedError } from '../subscriptions/upstreamSubscription.ts';
import { enter, prepare, type AskParts } from './askServer.ts';
import type { Inbound } from './call.ts';
import { isSilent, offersUpdates } from './hearable.ts';
import { leaseConnection } from './leaseConnection.ts';
import { toldOf } from './toldOf.ts';

/**
 * Throws unless this caller can be told of updated resources at this server. The stream on which they are told may open
 * later, and at another replica: what it could not keep is not promised here.
 */
export async function requireUpdates(parts: AskParts, name: string, inbound: Inbound): Promise<void> {
  const server = enter(parts, inbound, name, 'MCP_RESOURCE_NOT_FOUND');
  try {
    if (isSilent(server)) throw createSubscriptionUnsupportedError();
    const ready = await prepare(parts, server, inbound);
    const lease = await leaseConnection(parts.connections, ready, { signal: inbound.signal });
    const { claims } = lease.upstream;
    // No UpstreamError: nothing was sent, which says nothing of the server.
    lease.release(new DOMException('Only looked at', 'AbortError'));
    if (!offersUpdates(claims)) throw createSubscriptionUnsupportedError();
  } catch (error) {
    throw toldOf(error, server);
  }
}

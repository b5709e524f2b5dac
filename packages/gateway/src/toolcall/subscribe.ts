import type { AllowedServer } from '../access/allowedServer.ts';
import type { Lease } from '../connections/connectionManager.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { principalKey } from '../principal/principal.ts';
import type { ServerSnapshot } from '../servers/definition.ts';
import type { ServerSubscription, ServerSubscriptions } from '../subscriptions/serverSubscriptions.ts';
import {
  type OpenStream,
  createSubscriptionUnsupportedError,
} from '../subscriptions/upstreamSubscription.ts';
import type { Catalog } from '../tools/catalog.ts';
import type { Bearer } from '../upstream/target.ts';
import type { ServerClaims, ServerNotification, UpstreamRequestOptions } from '../upstream/upstream.ts';
import type { PreparedTarget } from './credential.ts';
import type { Inbound } from './inbound.ts';
import { ownerKey } from './list.ts';
import { toCallerError, toNotFoundError } from './outcome.ts';
import { getBearer } from './retry.ts';
import {
  type SendParts,
  leaseConnection,
  prepareCredential,
  requestOptions,
  resolveAllowedServer,
} from './send.ts';

export interface SubscribeParts extends SendParts {
  readonly catalog: Pick<Catalog, 'onListChanged'>;
  readonly watches: ServerSubscriptions;
}

/**
 * Tells what changes at a server for this caller: its lists, and resources that are subscribed. Of a server that
 * everybody shares it is one stream for all; of any other the caller's own, opened with their own credential. It is made
 * anew when it breaks, until it is stopped. Throws when there is no such server for this caller.
 */
export function subscribeToServer(
  parts: SubscribeParts,
  name: string,
  inbound: Inbound,
  listener: (notice: ServerNotification) => void,
): ServerSubscription {
  const { principal, door, credential } = inbound;
  const resolveCurrent = () => resolveAllowedServer(parts, inbound, name, 'MCP_SERVER_NOT_FOUND');
  const server = resolveCurrent();
  // Another one of the same name is another server's business; also one that a tenant has put in its place, for itself.
  const isSame = (current: AllowedServer) =>
    current.id === server.id && current.scope === server.scope && current.tenant === server.tenant;
  const listOwner = ownerKey(server, principal);
  const owner = listOwner === '' ? undefined : listOwner;
  const key = JSON.stringify([server.tenant, server.id, server.scope, listOwner, credential ?? null]);
  return parts.watches.subscribe(
    { key, owner, serverId: server.id },
    {
      principal: principalKey(principal),
      async openStream(signal) {
        const current = resolveCurrent();
        if (!isSame(current)) throw new GatewayError('MCP_SERVER_NOT_FOUND');
        try {
          return await openStream(parts, current, { principal, door, signal, credential });
        } catch (error) {
          throw toCallerError(error, current);
        }
      },
      isAllowed: () => isSame(resolveCurrent()),
      onNotification: listener,
    },
  );
}

async function openStream(
  parts: SubscribeParts,
  server: AllowedServer,
  inbound: Inbound,
): Promise<OpenStream | undefined> {
  if (cannotSubscribe(server)) return undefined;
  const prepared = await prepareCredential(parts, server, inbound);
  const lease = await leaseConnection(parts.connections, prepared, { signal: inbound.signal });
  return openStreamOn(parts, prepared, inbound, lease);
}

function openStreamOn(
  parts: SubscribeParts,
  prepared: PreparedTarget,
  inbound: Inbound,
  lease: Lease,
): OpenStream {
  const { server } = prepared;
  const { upstream } = lease;
  const streamBearer = createStreamBearer(parts, prepared, inbound);
  const options: UpstreamRequestOptions = {
    ...requestOptions(prepared, inbound),
    ...(streamBearer && { bearer: streamBearer }),
  };
  const { headers } = options;
  let stop: () => void = () => undefined;
  let isClosed = false;
  return {
    listen(hear, resources, onRenewed) {
      if (isClosed) return;
      const stopPrevious = stop;
      const forwardNotification = (notice: ServerNotification) => {
        if (notice.method === TOOLS_CHANGED) {
          parts.catalog.onListChanged(server.id, ownerKey(server, inbound.principal));
        }
        hear(notice);
      };
      stop = upstream.listen(forwardNotification, {
        ...{ resources, onSessionRenewed: onRenewed },
        ...(headers && { headers }),
        ...(streamBearer && { bearer: streamBearer }),
      });
      // Afterwards: a stream that both share stays open.
      stopPrevious();
    },
    async subscribe(uri) {
      if (upstream.claims.era === 'modern') {
        // It was told with the stream, and says nothing of an address where it offers none.
        if (!supportsResourceUpdates(upstream.claims)) throw createSubscriptionUnsupportedError();
        return;
      }
      try {
        await upstream.request('resources/subscribe', { uri }, options);
      } catch (error) {
        throw toNotFoundError(error, 'MCP_RESOURCE_NOT_FOUND') ?? toCallerError(error, server);
      }
    },
    unsubscribe(uri) {
      if (upstream.claims.era === 'modern') return;
      upstream.request('resources/unsubscribe', { uri }, options).catch(() => undefined);
    },
    onOutdated: (listener) => void lease.onRetire(listener),
    close() {
      if (isClosed) return;
      isClosed = true;
      stop();
      // No UpstreamError: that nobody watches any more says nothing of the server.
      lease.release(new DOMException('The subscription was closed', 'AbortError'));
    },
  };
}

const TOOLS_CHANGED = 'notifications/tools/list_changed';

/**
 * What one call may cost is soon used up by a stream that lasts. Whenever it is opened anew, what its user presents is
 * prepared anew, with every check; what belongs to another sign-in by then is for another connection.
 */
function createStreamBearer(
  parts: SubscribeParts,
  prepared: PreparedTarget,
  inbound: Inbound,
): Bearer | undefined {
  const initialBearer = getBearer(prepared);
  if (!initialBearer) return undefined;
  return {
    extension: initialBearer.extension,
    async token() {
      const { server } = prepared;
      const current = await prepareCredential(
        parts,
        resolveAllowedServer(parts, inbound, server.name, 'MCP_SERVER_NOT_FOUND'),
        inbound,
      );
      const bearer = getBearer(current);
      if (
        !bearer ||
        current.server.revision !== server.revision ||
        readBinding(current) !== readBinding(prepared)
      ) {
        throw new Error('The credential or the server definition has changed');
      }
      return bearer.token();
    },
    renew: () => Promise.resolve(false),
    hasRenewed: () => false,
    presentedTokens: () => [],
  };
}

function readBinding(prepared: PreparedTarget): string | undefined {
  return 'holder' in prepared ? prepared.holder.binding : undefined;
}

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

/** Nothing is held open for one chat request, and no child process for one user's curiosity. */
export function cannotSubscribe(server: ServerSnapshot): boolean {
  return server.scope === 'user' && (server.requestScoped || server.settings.type === 'stdio');
}

/** Whether this server says that it tells of updated resources. */
function supportsResourceUpdates({ capabilities }: ServerClaims): boolean {
  const { resources } = capabilities;
  const capability = typeof resources === 'object' && resources !== null ? resources : {};
  return 'subscribe' in capability && capability.subscribe === true;
}

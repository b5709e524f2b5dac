import { isObject } from '@behalf/kernel';
import type { AllowedServer } from '../access/allowedServer.ts';
import type { Lease } from '../connections/connectionManager.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { principalKey } from '../principal/principal.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { ServerSubscription, ServerSubscriptions } from '../subscriptions/serverSubscriptions.ts';
import {
  type OpenStream,
  createSubscriptionUnsupportedError,
} from '../subscriptions/upstreamSubscription.ts';
import { type Catalog, ownerKey } from '../tools/catalog.ts';
import type { Bearer } from '../upstream/target.ts';
import type { ServerClaims, ServerNotification, UpstreamRequestOptions } from '../upstream/upstream.ts';
import {
  type PreparedTarget,
  type SendParts,
  getBearer,
  prepareCredential,
  resolveAllowedServer,
} from './credential.ts';
import type { Inbound } from './inbound.ts';
import { toCallerError, toNotFoundError } from './outcome.ts';
import { leaseConnection, requestOptions } from './send.ts';

export interface SubscribeParts extends SendParts {
  readonly catalog: Pick<Catalog, 'onListChanged'>;
  readonly serverSubscriptions: ServerSubscriptions;
}

/**
 * Subscribes to the server's notifications: list changes and updates of subscribed resources. All users share one stream of a
 * shared server. A user-scoped server has one stream per user, with the user's credential. A broken stream is reopened until
 * the subscription is closed. Throws if the caller may not use the server.
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
  // Another server may have the name by now, for example an override of the tenant.
  const isSame = (current: AllowedServer) =>
    current.id === server.id && current.scope === server.scope && current.tenant === server.tenant;
  const listOwner = ownerKey(server, principal);
  const owner = listOwner === '' ? undefined : listOwner;
  const key = JSON.stringify([server.tenant, server.id, server.scope, listOwner, credential ?? null]);
  return parts.serverSubscriptions.subscribe(
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
      // Stop the previous listener last: a stream that both share stays open.
      stopPrevious();
    },
    async subscribe(uri) {
      if (upstream.claims.era === 'modern') {
        // Modern servers get the URIs with `listen`.
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
      // Not an UpstreamError: closing is not a health signal for the server.
      lease.release(new DOMException('The subscription was closed', 'AbortError'));
    },
  };
}

const TOOLS_CHANGED = 'notifications/tools/list_changed';

/**
 * The bearer of a long-lived stream. Each time the stream is reopened, it prepares the credential again with all checks and a
 * new token request budget. If the definition or the sign-in changed, it rejects: the stream needs another connection.
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
 * Rejects if this server cannot report updates of resources to this caller. The stream may open later on another replica, so
 * the gateway checks this before it accepts a subscription.
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
    // Not an UpstreamError: nothing was sent, so this is not a health signal for the server.
    lease.release(new DOMException('The connection was only inspected', 'AbortError'));
    if (!supportsResourceUpdates(claims)) throw createSubscriptionUnsupportedError();
  } catch (error) {
    throw toCallerError(error, server);
  }
}

/** Request-scoped connections last for one request. A child process per subscribed user would cost too much. */
export function cannotSubscribe(server: ServerSnapshot): boolean {
  return server.scope === 'user' && (server.requestScoped || server.settings.type === 'stdio');
}

/** Whether the server declares `resources.subscribe`. */
function supportsResourceUpdates({ capabilities }: ServerClaims): boolean {
  const { resources } = capabilities;
  return isObject(resources) && resources['subscribe'] === true;
}

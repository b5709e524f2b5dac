import type { Catalog } from '../catalog/catalog.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { principalKey } from '../principal/principal.ts';
import type { Lease } from '../connections/connectionManager.ts';
import type { Bearer } from '../upstream/target.ts';
import type { ServerNotification, UpstreamRequestOptions } from '../upstream/upstream.ts';
import {
  createSubscriptionUnsupportedError,
  type OpenStream,
} from '../subscriptions/upstreamSubscription.ts';
import type { ServerSubscription, ServerSubscriptions } from '../subscriptions/serverSubscriptions.ts';
import { enter, prepare, type AskParts } from './askServer.ts';
import type { Inbound } from './call.ts';
import { requestOptions } from './callUpstream.ts';
import type { Allowed } from './checkAccess.ts';
import { isSilent, offersUpdates } from './hearable.ts';
import { leaseConnection } from './leaseConnection.ts';
import { holderKey } from './loadTools.ts';
import type { Ready } from './obtainCredential.ts';
import { bearerOf } from './recoverFromRefusal.ts';
import { notFoundError } from './rpcResult.ts';
import { toldOf } from './toldOf.ts';

export interface WatchParts extends AskParts {
  readonly catalog: Pick<Catalog, 'onListChanged'>;
  readonly watches: ServerSubscriptions;
}

/**
 * Tells what changes at a server for this caller: its lists, and resources that are subscribed. Of a server that
 * everybody shares it is one stream for all; of any other the caller's own, opened with their own credential. It is made
 * anew when it breaks, until it is stopped. Throws when there is no such server for this caller.
 */
export function watchServer(
  parts: WatchParts,
  name: string,
  inbound: Inbound,
  listener: (notice: ServerNotification) => void,
): ServerSubscription {
  const { principal, door, credential } = inbound;
  const find = () => enter(parts, inbound, name, 'MCP_SERVER_NOT_FOUND');
  const server = find();
  // Another one of the same name is another server's business; also one that a tenant has put in its place, for itself.
  const isSame = (now: Allowed) =>
    now.id === server.id && now.scope === server.scope && now.tenant === server.tenant;
  const own = holderKey(server, principal);
  const owner = own === '' ? undefined : own;
  const key = JSON.stringify([server.tenant, server.id, server.scope, own, credential ?? null]);
  return parts.watches.subscribe(
    { key, owner, serverId: server.id },
    {
      principal: principalKey(principal),
      async openStream(signal) {
        const current = find();
        if (!isSame(current)) throw new GatewayError('MCP_SERVER_NOT_FOUND');
        try {
          return await stand(parts, current, { principal, door, signal, credential });
        } catch (error) {
          throw toldOf(error, current);
        }
      },
      isAllowed: () => isSame(find()),
      onNotification: listener,
    },
  );
}

async function stand(parts: WatchParts, server: Allowed, inbound: Inbound): Promise<OpenStream | undefined> {
  if (isSilent(server)) return undefined;
  const ready = await prepare(parts, server, inbound);
  const lease = await leaseConnection(parts.connections, ready, { signal: inbound.signal });
  return standOn(parts, ready, inbound, lease);
}

function standOn(parts: WatchParts, ready: Ready, inbound: Inbound, lease: Lease): OpenStream {
  const { server } = ready;
  const { upstream } = lease;
  const bearer = lastingBearer(parts, ready, inbound);
  const options: UpstreamRequestOptions = { ...requestOptions(ready, inbound), ...(bearer && { bearer }) };
  const { headers } = options;
  let stop: () => void = () => undefined;
  let isOver = false;
  return {
    listen(hear, resources, onRenewed) {
      if (isOver) return;
      const before = stop;
      const heard = (notice: ServerNotification) => {
        if (notice.method === TOOLS_CHANGED) {
          parts.catalog.onListChanged(server.id, holderKey(server, inbound.principal));
        }
        hear(notice);
      };
      stop = upstream.listen(heard, {
        ...{ resources, onSessionRenewed: onRenewed },
        ...(headers && { headers }),
        ...(bearer && { bearer }),
      });
      // Afterwards: a stream that both share stays open.
      before();
    },
    async subscribe(uri) {
      if (upstream.claims.era === 'modern') {
        // It was told with the stream, and says nothing of an address where it offers none.
        if (!offersUpdates(upstream.claims)) throw createSubscriptionUnsupportedError();
        return;
      }
      try {
        await upstream.request('resources/subscribe', { uri }, options);
      } catch (error) {
        throw notFoundError(error, 'MCP_RESOURCE_NOT_FOUND') ?? toldOf(error, server);
      }
    },
    unsubscribe(uri) {
      if (upstream.claims.era === 'modern') return;
      upstream.request('resources/unsubscribe', { uri }, options).catch(() => undefined);
    },
    onOutdated: (listener) => void lease.onRetire(listener),
    close() {
      if (isOver) return;
      isOver = true;
      stop();
      // No UpstreamError: that nobody watches any more says nothing of the server.
      lease.release(new DOMException('Nobody watches any more', 'AbortError'));
    },
  };
}

const TOOLS_CHANGED = 'notifications/tools/list_changed';

/**
 * What one call may cost is soon used up by a stream that lasts. Whenever it is opened anew, what its user presents is
 * prepared anew, with every check; what belongs to another sign-in by then is for another connection.
 */
function lastingBearer(parts: WatchParts, ready: Ready, inbound: Inbound): Bearer | undefined {
  const first = bearerOf(ready);
  if (!first) return undefined;
  return {
    extension: first.extension,
    async token() {
      const { server } = ready;
      const now = await prepare(parts, enter(parts, inbound, server.name, 'MCP_SERVER_NOT_FOUND'), inbound);
      const bearer = bearerOf(now);
      if (!bearer || now.server.revision !== server.revision || bindingOf(now) !== bindingOf(ready)) {
        throw new Error('What is presented there is another by now');
      }
      return bearer.token();
    },
    renew: () => Promise.resolve(false),
    hasRenewed: () => false,
    presentedTokens: () => [],
  };
}

function bindingOf(ready: Ready): string | undefined {
  return 'holder' in ready ? ready.holder.binding : undefined;
}

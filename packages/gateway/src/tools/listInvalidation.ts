import { parseVariablesKey } from '../credentials/variables/variableCache.ts';
import type { ChangeFeed } from '../ports/index.ts';
import { principalKey } from '../principal/principal.ts';
import type { Registry } from '../servers/registry.ts';
import type { OpenUpstream } from '../upstream/openUpstream.ts';
import type { Catalog } from './catalog.ts';
import { type ListChanges, type ListSubscriptions, listKinds } from './changes.ts';
import type { ItemListCache } from './itemLists.ts';

interface ListInvalidationParts {
  readonly catalog: Pick<Catalog, 'invalidate' | 'onListChanged'>;
  readonly itemLists: Pick<ItemListCache, 'invalidate' | 'expire'>;
  readonly listChanges: Pick<ListChanges, 'emit'>;
}

/** Drops the lists that a user fetched with an old credential or old values, and announces that they may differ. */
export function invalidateUserLists(parts: ListInvalidationParts, serverId: string, principal: string): void {
  invalidate(parts, serverId, principal);
  parts.listChanges.emit({ serverId, ownerKey: principal, kinds: listKinds });
}

function invalidate(
  { catalog, itemLists }: ListInvalidationParts,
  serverId: string,
  ownerKey?: string,
): void {
  catalog.invalidate(serverId, ownerKey);
  itemLists.invalidate(serverId, ownerKey);
}

/**
 * Opens upstreams. A shared upstream also subscribes to `list_changed` notifications, so that cached lists of shared servers
 * expire at once. Lists of a user's own connection are fetched again when they are used.
 */
export function openWithListUpdates(
  open: OpenUpstream,
  parts: ListInvalidationParts & { readonly listSubscriptions: Pick<ListSubscriptions, 'open'> },
): OpenUpstream {
  const { catalog, itemLists, listChanges, listSubscriptions } = parts;

  function onNotification(serverId: string, method: string): void {
    const kind = listKinds.find((candidate) => method === `notifications/${candidate}/list_changed`);
    if (kind === undefined) return;
    if (kind === 'tools') catalog.onListChanged(serverId);
    else itemLists.expire(serverId);
    listChanges.emit({ serverId, kinds: [kind] });
  }

  return async (target, options) => {
    const upstream = await open(target, options);
    if (options.owner !== undefined) return upstream;
    const { server } = options;
    const subscription = listSubscriptions.open(server);
    upstream.listen(({ method }) => onNotification(server, method), {
      onSubscribedLists: (kinds) => subscription.setKinds(kinds),
      ...(target.type !== 'stdio' && { headers: target.headers }),
      // The gateway's own token. A modern server receives it with each request and keeps no session.
      ...(target.type !== 'stdio' && target.bearer && { bearer: target.bearer }),
    });
    upstream.onClose(() => subscription.close());
    return upstream;
  };
}

/**
 * Announces list changes that follow from other changes: servers, permissions, and variable values. Values that a user enters
 * at another replica also invalidate the lists that were fetched with the old values. Returns the unsubscribe function.
 */
export function subscribeListInvalidation(
  parts: ListInvalidationParts & {
    readonly registry: Pick<Registry, 'listAll' | 'onChange'>;
    readonly changes: ChangeFeed;
  },
): () => void {
  const { listChanges, registry, changes } = parts;
  const announceAll = () => listChanges.emit({ kinds: listKinds });
  const stopRegistry = registry.onChange(announceAll);
  const stopChanges = changes.subscribe(({ topic, id }) => {
    if (topic === 'acl' || topic === 'roles') announceAll();
    if (topic !== 'variables') return;
    const owner = parseVariablesKey(id);
    if (owner) return invalidate(parts, owner.serverId, principalKey(owner));
    for (const server of registry.listAll()) if (server.scope === 'user') invalidate(parts, server.id);
  });
  return () => {
    stopRegistry();
    stopChanges();
  };
}

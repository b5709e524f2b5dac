import {
  type Catalog,
  type ItemListCache,
  type ListChanges,
  type ListSubscriptions,
  type Log,
  type Naming,
  type Registry,
  type ServerKeys,
  createCatalog,
  createItemListCache,
  createListChanges,
  createListSubscriptions,
  createServerKeys,
  listKinds,
  parseVariablesKey,
  principalKey,
} from '@behalf/gateway';
import type { ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { Disposables } from '../runtime/lifecycle.ts';

/** What is known of what servers offer, and who is told when it changes. */
interface ComposedLists {
  readonly catalog: Catalog;
  readonly itemLists: ItemListCache;
  readonly listSubscriptions: ListSubscriptions;
  /** That something may be listed differently. */
  readonly listChanges: ListChanges;
  /** What a server says that everybody shares. */
  onUpstreamNotification(serverId: string, method: string): void;
  /** What was listed with a user's old values is of no use any more. */
  invalidateUserState(serverId: string, principal: string): void;
  /** Once there are servers: follows who may use which, and the values of users. */
  subscribeChanges(registry: Registry, changes: ChangeFeed, naming: () => Naming): ServerKeys;
}

export function composeLists({
  clock,
  log,
  disposables,
}: {
  clock: Clock;
  log: Log;
  disposables: Disposables;
}): ComposedLists {
  const catalog = createCatalog({ clock, log });
  disposables.add(() => catalog.close());
  const itemLists = createItemListCache({ clock });
  const listSubscriptions = createListSubscriptions();
  const listChanges = createListChanges();

  function invalidate(serverId: string, ownerKey?: string): void {
    catalog.invalidate(serverId, ownerKey);
    itemLists.invalidate(serverId, ownerKey);
  }

  return {
    catalog,
    itemLists,
    listSubscriptions,
    listChanges,
    onUpstreamNotification(serverId, method) {
      const kind = listKinds.find((candidate) => method === `notifications/${candidate}/list_changed`);
      if (kind === undefined) return;
      if (kind === 'tools') catalog.onListChanged(serverId);
      else itemLists.expire(serverId);
      listChanges.emit({ serverId, kinds: [kind] });
    },
    invalidateUserState(serverId, principal) {
      invalidate(serverId, principal);
      listChanges.emit({ serverId, ownerKey: principal, kinds: listKinds });
    },
    subscribeChanges(registry, changes, naming) {
      disposables.add(registry.onChange(() => listChanges.emit({ kinds: listKinds })));
      disposables.add(
        changes.subscribe(({ topic, id }) => {
          // Who may use what: a caller may see more servers now, or fewer.
          if (topic === 'acl' || topic === 'roles') listChanges.emit({ kinds: listKinds });
          if (topic !== 'variables') return;
          // Entered at another replica: what was listed with the old values is listed anew.
          const owner = parseVariablesKey(id);
          if (owner) return invalidate(owner.serverId, principalKey(owner));
          for (const server of registry.listAll()) if (server.scope === 'user') invalidate(server.id);
        }),
      );
      return createServerKeys(registry, naming);
    },
  };
}

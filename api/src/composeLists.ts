import {
  createCatalog,
  createListSubscriptions,
  createItemListCache,
  createListChanges,
  createServerKeys,
  listKinds,
  principalKey,
  parseVariablesKey,
  type Catalog,
  type ListSubscriptions,
  type ItemListCache,
  type ListChanges,
  type Log,
  type Naming,
  type Registry,
  type ServerKeys,
} from '@behalf/gateway';
import type { ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { Closers } from './closers.ts';

/** What is known of what servers offer, and who is told when it changes. */
export interface Lists {
  readonly catalog: Catalog;
  readonly listings: ItemListCache;
  readonly listFeeds: ListSubscriptions;
  /** That something may be listed differently. */
  readonly news: ListChanges;
  /** What a server says that everybody shares. */
  heard(serverId: string, method: string): void;
  /** What was listed with a user's old values is of no use any more. */
  forget(serverId: string, principal: string): void;
  /** Once there are servers: follows who may use which, and the values of users. */
  follow(registry: Registry, changes: ChangeFeed, naming: () => Naming): ServerKeys;
}

export function composeLists({ clock, log, closers }: { clock: Clock; log: Log; closers: Closers }): Lists {
  const catalog = createCatalog({ clock, log });
  closers.add(() => catalog.close());
  const listings = createItemListCache({ clock });
  const listFeeds = createListSubscriptions();
  const news = createListChanges();

  function invalidate(serverId: string, holderKey?: string): void {
    catalog.invalidate(serverId, holderKey);
    listings.invalidate(serverId, holderKey);
  }

  return {
    catalog,
    listings,
    listFeeds,
    news,
    heard(serverId, method) {
      const kind = listKinds.find((one) => method === `notifications/${one}/list_changed`);
      if (kind === undefined) return;
      if (kind === 'tools') catalog.onListChanged(serverId);
      else listings.expire(serverId);
      news.emit({ serverId, kinds: [kind] });
    },
    forget(serverId, principal) {
      invalidate(serverId, principal);
      news.emit({ serverId, ownerKey: principal, kinds: listKinds });
    },
    follow(registry, changes, naming) {
      closers.add(registry.onChange(() => news.emit({ kinds: listKinds })));
      closers.add(
        changes.subscribe(({ topic, id }) => {
          // Who may use what: a caller may see more servers now, or fewer.
          if (topic === 'acl' || topic === 'roles') news.emit({ kinds: listKinds });
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

import type { ListKind } from '../upstream/upstream.ts';

/** A list may have changed. */
export interface ListChange {
  /** Undefined: the set of servers or their permissions changed. */
  readonly serverId?: string;
  /** The owner of the list: the key of a principal. Undefined for lists of shared servers. */
  readonly ownerKey?: string;
  readonly kinds: readonly ListKind[];
}

/** Notifies clients that cache lists of the gateway. A change does not say what is new. */
export interface ListChanges {
  emit(change: ListChange): void;
  /** Returns a function that unsubscribes. */
  subscribe(listener: (change: ListChange) => void): () => void;
}

export const listKinds: readonly ListKind[] = ['tools', 'prompts', 'resources'];

export function createListChanges(): ListChanges {
  const listeners = new Set<(change: ListChange) => void>();
  return {
    emit(change) {
      for (const listener of [...listeners]) listener(change);
    },
    subscribe(listener) {
      const ownListener = (change: ListChange) => listener(change);
      listeners.add(ownListener);
      return () => void listeners.delete(ownListener);
    },
  };
}

/** The lists of shared servers for which the gateway receives change notifications at the moment. */
export interface ListSubscriptions {
  /** A new connection to this server replaces the previous one. */
  open(serverId: string): ListSubscription;
  isSubscribed(serverId: string, kind: ListKind): boolean;
}

interface ListSubscription {
  setKinds(lists: readonly ListKind[]): void;
  close(): void;
}

/** Clients may cache a list only while the server announces changes of it on an open stream. */
export function createListSubscriptions(): ListSubscriptions {
  const subscriptions = new Map<string, { lists: readonly ListKind[] }>();
  return {
    open(serverId) {
      const subscription: { lists: readonly ListKind[] } = { lists: [] };
      subscriptions.set(serverId, subscription);
      return {
        setKinds: (lists) => void (subscription.lists = lists),
        close() {
          // A newer connection may have replaced this one.
          if (subscriptions.get(serverId) === subscription) subscriptions.delete(serverId);
        },
      };
    },
    isSubscribed: (serverId, kind) => subscriptions.get(serverId)?.lists.includes(kind) ?? false,
  };
}

import type { ListKind } from '../upstream/upstream.ts';

/** Something may be listed differently from now on. */
export interface ListChange {
  /** Undefined: which servers there are, or who may use them. */
  readonly serverId?: string;
  /** Whose list: a key of a principal; undefined for everybody's. */
  readonly ownerKey?: string;
  readonly kinds: readonly ListKind[];
}

/** Tells those who keep a list of ours that it is worth asking again. It never says what is new. */
export interface ListChanges {
  emit(change: ListChange): void;
  /** Returns how to stop. */
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

/** Of which lists of shared servers changes are heard at this moment. */
export interface ListSubscriptions {
  /** A connection to this server begins, in place of the one before. */
  open(serverId: string): ListSubscription;
  isSubscribed(serverId: string, kind: ListKind): boolean;
}

interface ListSubscription {
  setKinds(lists: readonly ListKind[]): void;
  close(): void;
}

/** Who is told to keep a list must hear when it changes: it takes a server that announces it, and a stream that is open. */
export function createListSubscriptions(): ListSubscriptions {
  const subscriptions = new Map<string, { lists: readonly ListKind[] }>();
  return {
    open(serverId) {
      const subscription: { lists: readonly ListKind[] } = { lists: [] };
      subscriptions.set(serverId, subscription);
      return {
        setKinds: (lists) => void (subscription.lists = lists),
        close() {
          // One that is over says nothing of the one that came in its place.
          if (subscriptions.get(serverId) === subscription) subscriptions.delete(serverId);
        },
      };
    },
    isSubscribed: (serverId, kind) => subscriptions.get(serverId)?.lists.includes(kind) ?? false,
  };
}

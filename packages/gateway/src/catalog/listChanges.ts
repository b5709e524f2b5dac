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

import { heardBy } from '../http/serverMessages.ts';
import type { ListenOptions, ListKind, Notice } from '../upstream.ts';

export interface Listeners {
  /** Everybody hears of lists; of a resource, who names it. */
  add(
    listener: (notice: Notice) => void,
    options?: Pick<ListenOptions, 'resources' | 'onFollowed'>,
  ): () => void;
  tell(notice: Notice): void;
  /** Of which lists changes are heard from now on, until it is said anew. */
  follow(lists: readonly ListKind[]): void;
  clear(): void;
}

interface Entry {
  readonly hear: (notice: Notice) => void;
  readonly resources: readonly string[];
  readonly onFollowed: ((lists: readonly ListKind[]) => void) | undefined;
}

/** Whoever listens. `onWanted` hears which resources they want to hear of together, or undefined when the last has left. */
export function createListeners(onWanted: (resources: readonly string[] | undefined) => void): Listeners {
  const listeners = new Set<Entry>();
  let followed: readonly ListKind[] = [];

  function changed(): void {
    const all = new Set([...listeners].flatMap(({ resources }) => resources));
    onWanted(listeners.size > 0 ? [...all].sort() : undefined);
  }

  function each(work: (entry: Entry) => void): void {
    for (const entry of [...listeners]) {
      try {
        work(entry);
      } catch {
        // Its own affair; the others must hear too.
      }
    }
  }

  return {
    add(listener, { resources = [], onFollowed } = {}) {
      // The same function may listen twice and stop once.
      const entry = { hear: heardBy(listener, resources), resources, onFollowed };
      listeners.add(entry);
      onFollowed?.(followed);
      changed();
      return () => {
        if (listeners.delete(entry)) changed();
      };
    },
    tell: (notice) => each(({ hear }) => hear(notice)),
    follow(lists) {
      followed = lists;
      each(({ onFollowed }) => onFollowed?.(lists));
    },
    clear: () => listeners.clear(),
  };
}

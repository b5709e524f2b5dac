import { heardBy } from '../http/serverMessages.ts';
import type { Notice } from '../upstream.ts';

export interface Listeners {
  /** `resources`: whose updates this one hears. Everybody hears of lists. */
  add(listener: (notice: Notice) => void, resources?: readonly string[]): () => void;
  tell(notice: Notice): void;
  clear(): void;
}

/** Whoever listens. `onWanted` hears which resources they want to hear of together, or undefined when the last has left. */
export function createListeners(onWanted: (resources: readonly string[] | undefined) => void): Listeners {
  const listeners = new Set<{
    readonly hear: (notice: Notice) => void;
    readonly resources: readonly string[];
  }>();

  function changed(): void {
    const all = new Set([...listeners].flatMap(({ resources }) => resources));
    onWanted(listeners.size > 0 ? [...all].sort() : undefined);
  }

  return {
    add(listener, resources = []) {
      // The same function may listen twice and stop once.
      const entry = { hear: heardBy(listener, resources), resources };
      listeners.add(entry);
      changed();
      return () => {
        if (listeners.delete(entry)) changed();
      };
    },
    tell(notice) {
      for (const { hear } of [...listeners]) {
        try {
          hear(notice);
        } catch {
          // Its own affair; the others must hear too.
        }
      }
    },
    clear: () => listeners.clear(),
  };
}

import type { Notice } from '../upstream.ts';

export interface Listeners {
  add(listener: (notice: Notice) => void): () => void;
  tell(notice: Notice): void;
  clear(): void;
}

/** Whoever listens. `onUse` hears when the first came, and again when the last has left. */
export function createListeners(onUse: (used: boolean) => void): Listeners {
  const listeners = new Set<{ readonly hear: (notice: Notice) => void }>();
  return {
    add(hear) {
      // The same function may listen twice and stop once.
      const entry = { hear };
      listeners.add(entry);
      if (listeners.size === 1) onUse(true);
      return () => {
        if (listeners.delete(entry) && listeners.size === 0) onUse(false);
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

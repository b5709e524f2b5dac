import type { ChangeEvent } from '@behalf/gateway/ports';

/** The in-process part of every change feed. */
interface ChangeListeners {
  emit(change: ChangeEvent): void;
  subscribe(listener: (change: ChangeEvent) => void): () => void;
  readonly size: number;
}

export function createChangeListeners(): ChangeListeners {
  const listeners = new Set<(change: ChangeEvent) => void>();
  return {
    emit(change) {
      for (const listener of [...listeners]) {
        try {
          listener(change);
        } catch {
          // An error in one listener must not keep the change from the others.
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    get size() {
      return listeners.size;
    },
  };
}

import type { ChangeEvent } from '@behalf/gateway/ports';

/** The in-process half of every change feed. */
export interface ChangeListeners {
  emit(notice: ChangeEvent): void;
  subscribe(listener: (notice: ChangeEvent) => void): () => void;
  readonly size: number;
}

export function createChangeListeners(): ChangeListeners {
  const listeners = new Set<(notice: ChangeEvent) => void>();
  return {
    emit(notice) {
      for (const listener of [...listeners]) {
        try {
          listener(notice);
        } catch {
          // One listener's fault must not keep the news from the others.
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

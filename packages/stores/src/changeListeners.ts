import type { ChangeNotice } from '@behalf/gateway/ports';

/** The in-process half of every change feed. */
export interface ChangeListeners {
  emit(notice: ChangeNotice): void;
  subscribe(listener: (notice: ChangeNotice) => void): () => void;
  readonly size: number;
}

export function createChangeListeners(): ChangeListeners {
  const listeners = new Set<(notice: ChangeNotice) => void>();
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

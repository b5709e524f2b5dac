import { filterNotifications } from '../http/serverMessages.ts';
import type { ListenOptions, ListKind, ServerNotification } from '../upstream.ts';

export interface ChannelListeners {
  /** Everybody hears of lists; of a resource, who names it. */
  add(
    listener: (notification: ServerNotification) => void,
    options?: Pick<ListenOptions, 'resources' | 'onSubscribedLists'>,
  ): () => void;
  emit(notification: ServerNotification): void;
  /** Of which lists changes are heard from now on, until it is said anew. */
  setSubscribedLists(lists: readonly ListKind[]): void;
  clear(): void;
}

interface ChannelListener {
  readonly onNotification: (notification: ServerNotification) => void;
  readonly resources: readonly string[];
  readonly onSubscribedLists: ((lists: readonly ListKind[]) => void) | undefined;
}

/** Whoever listens. `onWanted` hears which resources they want to hear of together, or undefined when the last has left. */
export function createChannelListeners(
  onResourcesChange: (resources: readonly string[] | undefined) => void,
): ChannelListeners {
  const listeners = new Set<ChannelListener>();
  let subscribedLists: readonly ListKind[] = [];

  function reportResources(): void {
    const all = new Set([...listeners].flatMap(({ resources }) => resources));
    onResourcesChange(listeners.size > 0 ? [...all].sort() : undefined);
  }

  function forEachListener(action: (entry: ChannelListener) => void): void {
    for (const entry of [...listeners]) {
      try {
        action(entry);
      } catch {
        // Its own affair; the others must hear too.
      }
    }
  }

  return {
    add(listener, { resources = [], onSubscribedLists } = {}) {
      // The same function may listen twice and stop once.
      const entry = {
        onNotification: filterNotifications(listener, resources),
        resources,
        onSubscribedLists,
      };
      listeners.add(entry);
      onSubscribedLists?.(subscribedLists);
      reportResources();
      return () => {
        if (listeners.delete(entry)) reportResources();
      };
    },
    emit: (notification) => forEachListener(({ onNotification }) => onNotification(notification)),
    setSubscribedLists(lists) {
      subscribedLists = lists;
      forEachListener(({ onSubscribedLists }) => onSubscribedLists?.(lists));
    },
    clear: () => listeners.clear(),
  };
}

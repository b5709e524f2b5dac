import type { JsonObject } from '../upstream.ts';
import type { Peer } from './peer.ts';

const allListChanges = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

/**
 * Keeps `subscriptions/listen` open while somebody listens: modern servers send changes only to who asks for them. Which
 * resources are meant is said when it is opened, so that for others it is opened anew. A server that refuses it offers none.
 */
export function createListenSubscription(
  peer: Peer,
  meta: JsonObject,
  /** It is not open any more. */
  onClosed: () => void,
): (resources: readonly string[] | undefined) => void {
  let current: { readonly filter: string; readonly stop: AbortController } | undefined;
  return (resources) => {
    const filter = JSON.stringify(resources);
    if (resources && current?.filter === filter) return;
    const previous = current;
    current = undefined;
    if (resources) {
      const stop = new AbortController();
      current = { filter, stop };
      const notifications = {
        ...allListChanges,
        ...(resources.length > 0 && { resourceSubscriptions: resources }),
      };
      const noTimeout = { timeoutMs: Infinity, totalMs: Infinity, isSubscription: true };
      peer
        .request('subscriptions/listen', { notifications }, { ...noTimeout, signal: stop.signal, meta })
        .catch(() => undefined)
        .finally(() => {
          if (current?.stop === stop) onClosed();
        });
    }
    // Afterwards, so that nothing is missed in between.
    previous?.stop.abort(new DOMException('No listeners remain', 'AbortError'));
  };
}

import type { Json } from '../upstream.ts';
import type { Peer } from './peer.ts';

const everyList = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

/**
 * Keeps `subscriptions/listen` open while somebody listens: modern servers send changes only to who asks for them. Which
 * resources are meant is said when it is opened, so that for others it is opened anew. A server that refuses it offers none.
 */
export function createSubscription(
  peer: Peer,
  meta: Json,
  /** It is not open any more. */
  onOver: () => void,
): (resources: readonly string[] | undefined) => void {
  let current: { readonly filter: string; readonly stop: AbortController } | undefined;
  return (resources) => {
    const filter = JSON.stringify(resources);
    if (resources && current?.filter === filter) return;
    const before = current;
    current = undefined;
    if (resources) {
      const stop = new AbortController();
      current = { filter, stop };
      const notifications = {
        ...everyList,
        ...(resources.length > 0 && { resourceSubscriptions: resources }),
      };
      const forever = { timeoutMs: Infinity, totalMs: Infinity, standing: true };
      peer
        .request('subscriptions/listen', { notifications }, { ...forever, signal: stop.signal, meta })
        .catch(() => undefined)
        .finally(() => {
          if (current?.stop === stop) onOver();
        });
    }
    // Afterwards, so that nothing is missed in between.
    before?.stop.abort(new DOMException('Nobody listens any more', 'AbortError'));
  };
}

import type { ChangeFeed } from '@behalf/gateway/ports';

/**
 * The primary store's feed, which forgets nothing and is up to a second late, with Redis's, which is at once and forgets. A
 * notice counts as published when the primary store has it: what Redis loses arrives with the next poll.
 */
export function mergeChangeFeeds(durable: ChangeFeed, fast: ChangeFeed): ChangeFeed {
  return {
    async publish(change) {
      await durable.publish(change);
      await fast.publish(change).catch(() => undefined);
    },
    subscribe(listener) {
      const unsubscribers = [durable.subscribe(listener), fast.subscribe(listener)];
      return () => unsubscribers.forEach((stop) => stop());
    },
    syncedUntil: () => durable.syncedUntil(),
  };
}

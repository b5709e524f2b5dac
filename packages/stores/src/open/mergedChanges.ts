import type { ChangeFeed } from '@behalf/gateway/ports';

/**
 * The primary store's feed, which forgets nothing and is up to a second late, with Redis's, which is at once and forgets. A
 * notice counts as published when the primary store has it: what Redis loses arrives with the next poll.
 */
export function mergedChanges(lasting: ChangeFeed, swift: ChangeFeed): ChangeFeed {
  return {
    async publish(notice) {
      await lasting.publish(notice);
      await swift.publish(notice).catch(() => undefined);
    },
    subscribe(listener) {
      const leave = [lasting.subscribe(listener), swift.subscribe(listener)];
      return () => leave.forEach((stop) => stop());
    },
    syncedUntil: () => lasting.syncedUntil(),
  };
}

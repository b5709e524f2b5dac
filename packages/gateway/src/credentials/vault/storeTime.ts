import type { Clock } from '@behalf/kernel';
import type { CredentialStore } from '../../ports/index.ts';

const SAMPLE_INTERVAL_MS = 60_000;

/** The time of all processes: the store's. A clock that is minutes off makes no token older or younger than it is. */
export interface StoreTime {
  readonly clock: Clock;
  /** Compares the clocks where that is due. What was known before holds while the store does not answer. */
  sample(): Promise<void>;
}

export function createStoreTime(store: Pick<CredentialStore, 'now'>, local: Clock): StoreTime {
  let offsetMs = 0;
  let sampledAt = -Infinity;
  let pendingSample: Promise<void> | undefined;

  async function measureOffset(): Promise<void> {
    const startedAt = local.now();
    try {
      const storeNow = await store.now();
      // It was told somewhere between the question and the answer.
      offsetMs = Math.round(storeNow - (startedAt + local.now()) / 2);
      sampledAt = startedAt;
    } catch {
      // What was known before holds; the next one asks again.
    } finally {
      pendingSample = undefined;
    }
  }

  return {
    clock: {
      now: () => local.now() + offsetMs,
      timer: (ms, fn, options) => local.timer(ms, fn, options),
    },
    async sample() {
      if (local.now() - sampledAt < SAMPLE_INTERVAL_MS) return;
      // Who comes meanwhile waits too: until the first answer every time is this process's own.
      await (pendingSample ??= measureOffset());
    },
  };
}

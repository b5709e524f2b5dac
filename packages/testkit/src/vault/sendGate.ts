import type { Fetch } from '@behalf/kernel';

/** A gate before the network: what waits here was never sent. */
export interface SendGate {
  readonly fetch: Fetch;
  hold(): void;
  release(): void;
  readonly waiting: number;
}

export function createSendGate(behind: Fetch): SendGate {
  let isClosed = false;
  const held: (() => void)[] = [];
  return {
    async fetch(url, init) {
      if (isClosed) await new Promise<void>((resolve) => held.push(resolve));
      return behind(url, init);
    },
    hold: () => void (isClosed = true),
    release() {
      isClosed = false;
      held.splice(0).forEach((go) => go());
    },
    get waiting() {
      return held.length;
    },
  };
}

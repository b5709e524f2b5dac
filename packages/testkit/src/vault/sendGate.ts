import type { Fetch } from '@behalf/kernel';

/** A gate before the network: what waits here was never sent. */
export interface SendGate {
  readonly fetch: Fetch;
  hold(): void;
  release(): void;
  readonly waitingCount: number;
}

export function createSendGate(inner: Fetch): SendGate {
  let isClosed = false;
  const resumers: (() => void)[] = [];
  return {
    async fetch(url, init) {
      if (isClosed) await new Promise<void>((resolve) => resumers.push(resolve));
      return inner(url, init);
    },
    hold: () => void (isClosed = true),
    release() {
      isClosed = false;
      resumers.splice(0).forEach((resume) => resume());
    },
    get waitingCount() {
      return resumers.length;
    },
  };
}

import type { OAuthEndpoint, OAuthHold } from './authorizationServerTypes.ts';

type When = 'before' | 'after';

interface HoldGate extends OAuthHold {
  pass(): Promise<void>;
}

export interface RequestHolds {
  open(endpoint: OAuthEndpoint, when: When): OAuthHold;
  pass(endpoint: OAuthEndpoint, when: When): Promise<void>;
  releaseAll(): void;
}

/** Gates at which requests wait. */
export function createRequestHolds(): RequestHolds {
  const gates = new Map<string, HoldGate>();
  return {
    open(endpoint, when) {
      const gate = createHoldGate();
      gates.set(`${endpoint} ${when}`, gate);
      return gate;
    },
    async pass(endpoint, when) {
      await gates.get(`${endpoint} ${when}`)?.pass();
    },
    releaseAll: () => gates.forEach((gate) => gate.release()),
  };
}

function createHoldGate(): HoldGate {
  let isOpen = false;
  const resumers: (() => void)[] = [];
  let arrivalWaiters: { count: number; resolve: () => void }[] = [];
  return {
    get waitingCount() {
      return resumers.length;
    },
    arrived: (count = 1) =>
      resumers.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => arrivalWaiters.push({ count, resolve })),
    release() {
      isOpen = true;
      resumers.splice(0).forEach((resume) => resume());
    },
    async pass() {
      if (isOpen) return;
      await new Promise<void>((resolve) => {
        resumers.push(resolve);
        arrivalWaiters = arrivalWaiters.filter((waiter) => {
          if (resumers.length < waiter.count) return true;
          waiter.resolve();
          return false;
        });
      });
    },
  };
}

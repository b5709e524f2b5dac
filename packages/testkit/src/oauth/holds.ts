import type { OAuthEndpoint, OAuthHold } from './authorizationServerTypes.ts';

type When = 'before' | 'after';

interface Gate extends OAuthHold {
  pass(): Promise<void>;
}

export interface Holds {
  open(endpoint: OAuthEndpoint, when: When): OAuthHold;
  pass(endpoint: OAuthEndpoint, when: When): Promise<void>;
  releaseAll(): void;
}

/** Gates at which requests wait. */
export function createHolds(): Holds {
  const gates = new Map<string, Gate>();
  return {
    open(endpoint, when) {
      const gate = createGate();
      gates.set(`${endpoint} ${when}`, gate);
      return gate;
    },
    async pass(endpoint, when) {
      await gates.get(`${endpoint} ${when}`)?.pass();
    },
    releaseAll: () => gates.forEach((gate) => gate.release()),
  };
}

function createGate(): Gate {
  let isOpen = false;
  const held: (() => void)[] = [];
  let watchers: { count: number; resolve: () => void }[] = [];
  return {
    get waiting() {
      return held.length;
    },
    arrived: (count = 1) =>
      held.length >= count ? Promise.resolve() : new Promise((resolve) => watchers.push({ count, resolve })),
    release() {
      isOpen = true;
      held.splice(0).forEach((go) => go());
    },
    async pass() {
      if (isOpen) return;
      await new Promise<void>((resolve) => {
        held.push(resolve);
        watchers = watchers.filter((watcher) => {
          if (held.length < watcher.count) return true;
          watcher.resolve();
          return false;
        });
      });
    },
  };
}

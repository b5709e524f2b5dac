import { createStore } from './store.ts';

/** Whether the gateway answered when it was last asked. */
export const reachability = createStore<boolean>(true);

export function markUnreachable(): void {
  reachability.set(false);
}

export function markReachable(): void {
  reachability.set(true);
}

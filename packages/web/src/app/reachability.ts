import { createStore } from './store.ts';

/** Whether the gateway answered when it was last asked. */
export const reachability = createStore<boolean>(true);

export function gatewaySilent(): void {
  reachability.set(false);
}

export function gatewayAnswered(): void {
  reachability.set(true);
}

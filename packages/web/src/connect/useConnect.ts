import { useStore } from '../app/store.ts';
import type { ConnectController } from './connectController.ts';
import type { ConnectState } from './connectState.ts';
import { connectControllers } from './pageConnectControllers.ts';

export interface ConnectHandle extends Omit<ConnectController, 'state'> {
  readonly state: ConnectState;
}

/** The sign-in at a server, wherever on the page it was begun. */
export function useConnect(server: string): ConnectHandle {
  const { state, ...actions } = connectControllers.get(server);
  return { state: useStore(state), ...actions };
}

import { useStore } from '../app/store.ts';
import type { Connecting } from './connecting.ts';
import type { ConnectState } from './connectState.ts';
import { connects } from './pageConnects.ts';

export interface Connect extends Omit<Connecting, 'state'> {
  readonly state: ConnectState;
}

/** The sign-in at a server, wherever on the page it was begun. */
export function useConnect(server: string): Connect {
  const { state, ...actions } = connects.of(server);
  return { state: useStore(state), ...actions };
}

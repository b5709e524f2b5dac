import { cancelFlow, flowStatus, startFlow } from '../api/credentials.ts';
import { invalidateServers } from '../api/servers.ts';
import { queryClient, runAsMutation } from '../app/queryClient.ts';
import { useStore } from '../app/store.ts';
import { currentPath } from '../app/userSession.ts';
import {
  type ConnectController,
  type ConnectControllerParts,
  createConnectController,
  createConnectControllers,
  openSignInWindow,
} from './connectController.ts';
import type { ConnectState } from './connectState.ts';
import { clearStoredFlows, createFlowSignals } from './flowSignals.ts';

/** Windows of this browser tell each other which server was connected. The word opens nothing. */
const channel = new BroadcastChannel('behalf-connected');

const listen = createFlowSignals({
  origin: location.origin,
  page: window,
  openChannel: (name) => new BroadcastChannel(name),
  storage: () => localStorage,
});

/** A sign-in that is begun and ended in these ways, in a window of this page. */
export function createPageConnectController({
  start,
  cancel,
  onConnected,
}: Pick<ConnectControllerParts, 'start' | 'cancel' | 'onConnected'>): ConnectController {
  return createConnectController({
    start: (body) => runAsMutation(() => start(body)),
    cancel: () => runAsMutation(cancel),
    status: (flowId, waitMs, signal) => runAsMutation(() => flowStatus(flowId, waitMs, signal)),
    timer(ms, work) {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
    now: () => Date.now(),
    open: openSignInWindow,
    ...{ listen, origin: location.origin, returnTo: currentPath, onConnected },
  });
}

/** The sign-ins of this page. Whoever signs in anew loads the page anew. */
export const connectControllers = createConnectControllers({
  create: (server, onConnected) =>
    createPageConnectController({
      start: (body) => startFlow(server, body),
      cancel: () => cancelFlow(server),
      onConnected,
    }),
  broadcast: (server) => channel.postMessage(server),
  onBroadcast: (listener) =>
    channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (typeof data === 'string') listener(data);
    }),
});

clearStoredFlows(() => localStorage);

/** Whatever is shown of it is read anew: its state, its tools and what is stored of the sign-in. */
connectControllers.onConnected(() => void invalidateServers(queryClient));

export interface ConnectHandle extends Omit<ConnectController, 'state'> {
  readonly state: ConnectState;
}

/** The sign-in at a server, wherever on the page it was begun. */
export function useConnect(server: string): ConnectHandle {
  const { state, ...actions } = connectControllers.get(server);
  return { state: useStore(state), ...actions };
}

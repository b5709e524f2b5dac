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

/** Tells the other windows of this browser which server was connected. The message grants no access. */
const channel = new BroadcastChannel('behalf-connected');

const listen = createFlowSignals({
  origin: location.origin,
  page: window,
  openChannel: (name) => new BroadcastChannel(name),
  storage: () => localStorage,
});

/** Creates a controller with the given requests and the APIs of this page. */
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

/** Controllers of this page. A different user always starts with a new page. */
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

/** Reloads the state, the tools and the credentials of the connected server. */
connectControllers.onConnected(() => void invalidateServers(queryClient));

export interface ConnectHandle extends Omit<ConnectController, 'state'> {
  readonly state: ConnectState;
}

/** Returns the sign-in at a server. All components share it. */
export function useConnect(server: string): ConnectHandle {
  const { state, ...actions } = connectControllers.get(server);
  return { state: useStore(state), ...actions };
}

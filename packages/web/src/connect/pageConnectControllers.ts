import { cancelFlow, flowStatus, startFlow } from '../api/flows.ts';
import { invalidateServers } from '../api/servers.ts';
import { runAsMutation } from '../app/runAsMutation.ts';
import { queryClient } from '../app/queryClient.ts';
import { currentPath } from '../app/returnHash.ts';
import {
  createConnectController,
  type ConnectController,
  type ConnectControllerParts,
} from './connectController.ts';
import { createConnectControllers } from './connectControllers.ts';
import { createFlowSignals, clearStoredFlows } from './flowSignals.ts';
import { openSignInWindow } from './signInWindow.ts';

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

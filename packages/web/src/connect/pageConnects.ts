import { cancelFlow, flowStatus, startFlow } from '../api/flows.ts';
import { serversChanged } from '../api/servers.ts';
import { noted } from '../app/noted.ts';
import { queryClient } from '../app/queryClient.ts';
import { pageAddress } from '../app/returnHash.ts';
import { createConnecting, type Connecting, type ConnectingParts } from './connecting.ts';
import { createConnects } from './connects.ts';
import { createFlowSignals, forgetFlows } from './flowSignals.ts';
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
export function connectingBy({
  start,
  cancel,
  onConnected,
}: Pick<ConnectingParts, 'start' | 'cancel' | 'onConnected'>): Connecting {
  return createConnecting({
    start: (body) => noted(() => start(body)),
    cancel: () => noted(cancel),
    status: (flowId, waitMs, signal) => noted(() => flowStatus(flowId, waitMs, signal)),
    timer(ms, work) {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
    now: () => Date.now(),
    open: openSignInWindow,
    ...{ listen, origin: location.origin, returnTo: pageAddress, onConnected },
  });
}

/** The sign-ins of this page. Whoever signs in anew loads the page anew. */
export const connects = createConnects({
  create: (server, onConnected) =>
    connectingBy({
      start: (body) => startFlow(server, body),
      cancel: () => cancelFlow(server),
      onConnected,
    }),
  tell: (server) => channel.postMessage(server),
  hear: (listener) =>
    channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (typeof data === 'string') listener(data);
    }),
});

forgetFlows(() => localStorage);

/** Whatever is shown of it is read anew: its state, its tools and what is stored of the sign-in. */
connects.onConnected(() => void serversChanged(queryClient));

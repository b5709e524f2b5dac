import { flowChannel } from '@behalf/contracts/plain';

/** What of a browser it takes. Each way can be closed: by a policy of a page on the way, or by a setting. */
export interface SignalParts {
  readonly origin: string;
  readonly page: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>;
  readonly openChannel: (name: string) => Pick<BroadcastChannel, 'close'> & EventTarget;
  readonly storage: () => Pick<Storage, 'getItem' | 'removeItem'>;
}

/** Tells once that a sign-in may be over, whichever way it comes to be known; gives back how to stop listening. */
export type ListenForFlow = (flowId: string, onSignal: () => void) => () => void;

/**
 * The window of the sign-in tells its end in three ways, because each may be closed: windows that other sites open lose
 * who opened them, and storage can be switched off. Only words of this origin about this very sign-in count.
 */
export function createFlowSignals({ origin, page, openChannel, storage }: SignalParts): ListenForFlow {
  return (flowId, onSignal) => {
    const key = `${flowChannel}:${flowId}`;
    let isSignaled = false;
    const signal = () => {
      if (!isSignaled) onSignal();
      isSignaled = true;
    };
    const onChannel = (event: Event) => {
      if (isFlowMessage((event as MessageEvent).data, flowId)) signal();
    };
    const onMessage = (event: Event) => {
      const { origin: from, data } = event as MessageEvent<unknown>;
      if (from === origin && isFlowMessage(data, flowId)) signal();
    };
    const onStorage = (event: Event) => {
      const { key: changed, newValue } = event as StorageEvent;
      if (changed === key && newValue !== null) signal();
    };
    const channel = tryOrUndefined(() => openChannel(flowChannel));
    channel?.addEventListener('message', onChannel);
    page.addEventListener('message', onMessage);
    page.addEventListener('storage', onStorage);
    // It may have been told before anybody listened.
    if (tryOrUndefined(() => storage().getItem(key)) != null) signal();
    return () => {
      channel?.removeEventListener('message', onChannel);
      channel?.close();
      page.removeEventListener('message', onMessage);
      page.removeEventListener('storage', onStorage);
      tryOrUndefined(() => storage().removeItem(key));
    };
  };
}

/** What sign-ins left behind that nobody waited for to their end: they were finished in the window of the page. */
export function clearStoredFlows(storage: () => Storage): void {
  tryOrUndefined(() => {
    const stored = storage();
    for (const key of Object.keys(stored)) if (key.startsWith(`${flowChannel}:`)) stored.removeItem(key);
  });
}

/** Without storage nothing was left there, and without a channel nothing is heard on it. */
function tryOrUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** What the page at the end of a sign-in tells. It says that there is something to ask for, and decides nothing. */
function isFlowMessage(data: unknown, flowId: string): boolean {
  if (typeof data !== 'object' || data === null) return false;
  const { type, flowId: messageFlowId } = data as { type?: unknown; flowId?: unknown };
  return type === 'behalf.oauth' && messageFlowId === flowId;
}

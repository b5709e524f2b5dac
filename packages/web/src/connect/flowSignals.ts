import { flowChannel } from '@behalf/contracts/plain';
import { isAboutFlow } from './flowMessage.ts';

/** What of a browser it takes. Each way can be closed: by a policy of a page on the way, or by a setting. */
export interface SignalParts {
  readonly origin: string;
  readonly page: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>;
  readonly openChannel: (name: string) => Pick<BroadcastChannel, 'close'> & EventTarget;
  readonly storage: () => Pick<Storage, 'getItem' | 'removeItem'>;
}

/** Tells once that a sign-in may be over, whichever way it comes to be known; gives back how to stop listening. */
export type ListenForFlow = (flowId: string, onTold: () => void) => () => void;

/**
 * The window of the sign-in tells its end in three ways, because each may be closed: windows that other sites open lose
 * who opened them, and storage can be switched off. Only words of this origin about this very sign-in count.
 */
export function createFlowSignals({ origin, page, openChannel, storage }: SignalParts): ListenForFlow {
  return (flowId, onTold) => {
    const key = `${flowChannel}:${flowId}`;
    let isTold = false;
    const told = () => {
      if (!isTold) onTold();
      isTold = true;
    };
    const onChannel = (event: Event) => {
      if (isAboutFlow((event as MessageEvent).data, flowId)) told();
    };
    const onMessage = (event: Event) => {
      const { origin: from, data } = event as MessageEvent<unknown>;
      if (from === origin && isAboutFlow(data, flowId)) told();
    };
    const onStorage = (event: Event) => {
      const { key: changed, newValue } = event as StorageEvent;
      if (changed === key && newValue !== null) told();
    };
    const channel = tryTo(() => openChannel(flowChannel));
    channel?.addEventListener('message', onChannel);
    page.addEventListener('message', onMessage);
    page.addEventListener('storage', onStorage);
    // It may have been told before anybody listened.
    if (tryTo(() => storage().getItem(key)) != null) told();
    return () => {
      channel?.removeEventListener('message', onChannel);
      channel?.close();
      page.removeEventListener('message', onMessage);
      page.removeEventListener('storage', onStorage);
      tryTo(() => storage().removeItem(key));
    };
  };
}

/** What sign-ins left behind that nobody waited for to their end: they were finished in the window of the page. */
export function forgetFlows(storage: () => Storage): void {
  tryTo(() => {
    const kept = storage();
    for (const key of Object.keys(kept)) if (key.startsWith(`${flowChannel}:`)) kept.removeItem(key);
  });
}

/** Without storage nothing was left there, and without a channel nothing is heard on it. */
function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

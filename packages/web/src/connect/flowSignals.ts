import { flowChannel } from '@behalf/contracts/plain';

/** Browser APIs for the signals. Page policies and browser settings can disable each of them. */
export interface SignalParts {
  readonly origin: string;
  readonly page: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>;
  readonly openChannel: (name: string) => Pick<BroadcastChannel, 'close'> & EventTarget;
  readonly storage: () => Pick<Storage, 'getItem' | 'removeItem'>;
}

/** Calls `onSignal` once when a sign-in may have ended. Returns a function that stops listening. */
export type ListenForFlow = (flowId: string, onSignal: () => void) => () => void;

/**
 * Creates a listener for the result page of a sign-in, which signals in three ways:
 * BroadcastChannel, `postMessage` to the opener and localStorage. Each can be unavailable:
 * Cross-Origin-Opener-Policy removes the opener, and storage can be disabled. The listener ignores
 * other origins and other sign-ins.
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
    // The signal may have arrived before the listener was added.
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

/** Removes the entries of sign-ins that ended without a listener, because they ran in the main window. */
export function clearStoredFlows(storage: () => Storage): void {
  tryOrUndefined(() => {
    const stored = storage();
    for (const key of Object.keys(stored)) if (key.startsWith(`${flowChannel}:`)) stored.removeItem(key);
  });
}

/** Returns undefined if the browser API is unavailable. */
function tryOrUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Checks a message of the result page. The message only triggers a poll and carries no result. */
function isFlowMessage(data: unknown, flowId: string): boolean {
  if (typeof data !== 'object' || data === null) return false;
  const { type, flowId: messageFlowId } = data as { type?: unknown; flowId?: unknown };
  return type === 'behalf.oauth' && messageFlowId === flowId;
}

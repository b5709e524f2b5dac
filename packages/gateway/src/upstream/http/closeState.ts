import { ActiveSet } from '@behalf/kernel';
import { UpstreamError } from '../upstreamError.ts';
import type { InFlightRequests } from './withDeadline.ts';

/** Whether a conversation goes on, and who wants to know when it does not. */
export interface CloseState {
  readonly isClosed: boolean;
  readonly inFlight: InFlightRequests;
  onClose(listener: () => void): void;
  /** Ends it once: true for the one who did. */
  markClosed(): boolean;
}

export function createCloseState(): CloseState {
  const inFlight: InFlightRequests = new ActiveSet();
  let listeners: (() => void)[] = [];
  let isClosed = false;
  return {
    get isClosed() {
      return isClosed;
    },
    inFlight,
    onClose(listener) {
      if (isClosed) listener();
      else listeners.push(listener);
    },
    markClosed() {
      if (isClosed) return false;
      isClosed = true;
      const pending = listeners;
      listeners = [];
      for (const listener of pending) {
        try {
          listener();
        } catch {
          // The others must know all the same.
        }
      }
      return true;
    },
  };
}

/** Requests in the air may have reached the server: nobody may take them for not sent. */
export function abortInFlight({ inFlight }: CloseState): void {
  for (const stop of inFlight) stop(new UpstreamError('reset'));
}

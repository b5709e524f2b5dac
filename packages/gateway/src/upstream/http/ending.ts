import { Roster } from '@behalf/kernel';
import { UpstreamError } from '../upstreamError.ts';
import type { InFlight } from './patience.ts';

/** Whether a conversation goes on, and who wants to know when it does not. */
export interface Ending {
  readonly over: boolean;
  readonly inFlight: InFlight;
  onClose(listener: () => void): void;
  /** Ends it once: true for the one who did. */
  end(): boolean;
}

export function createEnding(): Ending {
  const inFlight: InFlight = new Roster();
  let listeners: (() => void)[] = [];
  let over = false;
  return {
    get over() {
      return over;
    },
    inFlight,
    onClose(listener) {
      if (over) listener();
      else listeners.push(listener);
    },
    end() {
      if (over) return false;
      over = true;
      const waiting = listeners;
      listeners = [];
      for (const listener of waiting) {
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
export function interrupt({ inFlight }: Ending): void {
  for (const stop of inFlight) stop(new UpstreamError('reset'));
}

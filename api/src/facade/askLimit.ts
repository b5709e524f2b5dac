import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { networkOf } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import { createBuckets } from '../door/buckets.ts';

/** Addresses that are not known yet, in a minute, for one network. */
const PER_MINUTE = 30;
const MOST_NETWORKS = 10_000;

/** Anybody can name an address: we do not ask without end for somebody who names one after the other. */
export interface AskLimit {
  /** What is asked for during this work is on the account of who sent this request. */
  during<T>(req: IncomingMessage, work: () => Promise<T>): Promise<T>;
  /** Whether one more may be asked for now. On nobody's account none is. */
  mayAsk(): boolean;
}

export function createAskLimit(clock: Clock, addressOf: (req: IncomingMessage) => string): AskLimit {
  const buckets = createBuckets({ clock, perMinute: PER_MINUTE, most: MOST_NETWORKS });
  // The library asks in places where it knows of no request.
  const requests = new AsyncLocalStorage<IncomingMessage>();
  return {
    during: (req, work) => requests.run(req, work),
    mayAsk() {
      const req = requests.getStore();
      return req !== undefined && buckets.take('', networkOf(addressOf(req), 'site')) === 0;
    },
  };
}

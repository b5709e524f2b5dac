import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { networkOf } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import { createTokenBuckets } from '../http/tokenBuckets.ts';

/** Addresses that are not known yet, in a minute, for one network. */
const MAX_FETCHES_PER_MINUTE = 30;
const MAX_FETCH_NETWORKS = 10_000;

/** Anybody can name an address: we do not ask without end for somebody who names one after the other. */
export interface ClientFetchLimit {
  /** What is asked for during this work is on the account of who sent this request. */
  runForRequest<T>(req: IncomingMessage, work: () => Promise<T>): Promise<T>;
  /** Whether one more may be asked for now. On nobody's account none is. */
  tryConsume(): boolean;
}

export function createClientFetchLimit(
  clock: Clock,
  clientAddressOf: (req: IncomingMessage) => string,
): ClientFetchLimit {
  const buckets = createTokenBuckets({
    clock,
    perMinute: MAX_FETCHES_PER_MINUTE,
    maxBuckets: MAX_FETCH_NETWORKS,
  });
  // The library asks in places where it knows of no request.
  const requests = new AsyncLocalStorage<IncomingMessage>();
  return {
    runForRequest: (req, work) => requests.run(req, work),
    tryConsume() {
      const req = requests.getStore();
      return req !== undefined && buckets.consume('', networkOf(clientAddressOf(req), 'site')) === 0;
    },
  };
}

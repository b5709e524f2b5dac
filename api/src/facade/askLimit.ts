import type { IncomingMessage } from 'node:http';
import { networkOf } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import { createBuckets } from '../door/buckets.ts';

/** Documents that are not known yet, in a minute, for one network. */
const PER_MINUTE = 30;
const MOST_NETWORKS = 10_000;

/** Whether a client's document may be asked for now, on whose request; undefined where it is on nobody's. */
export type MayAsk = (req: IncomingMessage | undefined) => boolean;

/** Anybody can name a document: we do not fetch without end for somebody who names one after the other. */
export function createAskLimit(clock: Clock, addressOf: (req: IncomingMessage) => string): MayAsk {
  const buckets = createBuckets({ clock, perMinute: PER_MINUTE, most: MOST_NETWORKS });
  return (req) => buckets.take('', req ? networkOf(addressOf(req)) : '') === 0;
}

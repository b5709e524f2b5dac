import type { Clock } from '@behalf/kernel';
import { createBuckets } from '../door/buckets.ts';

/** Documents that are not known yet, in a minute, of this process. */
const PER_MINUTE = 60;

/** Anybody can name a document: we do not fetch without end for somebody who names one after the other. */
export function createAskLimit(clock: Clock): () => boolean {
  const buckets = createBuckets({ clock, perMinute: PER_MINUTE, most: 2 });
  return () => buckets.take('', '') === 0;
}

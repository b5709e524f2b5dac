import { within, type Clock } from '@behalf/kernel';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { startOpening, type Opening, type OpeningWork } from './opening.ts';

/** Everything that is being opened, so that a shutdown leaves nothing half-open behind. */
export interface Openings {
  /** Throws after a shutdown. */
  start(work: OpeningWork): Opening;
  /** Throws after a shutdown: nothing is opened any more that nobody would close. */
  assertAllowed(): void;
  /** Stops what is under way and waits until it has stopped, at most this long. */
  close(limitMs: number): Promise<void>;
}

export function createOpenings(clock: Clock): Openings {
  const underWay = new Set<Opening>();
  let closed = false;
  const shutdown = () => new UpstreamError('ended', { cause: new Error('The gateway is shutting down') });
  const assertAllowed = () => {
    if (closed) throw shutdown();
  };

  return {
    assertAllowed,
    start(work) {
      assertAllowed();
      const opening = startOpening({
        ...work,
        ended() {
          underWay.delete(opening);
          work.ended();
        },
      });
      underWay.add(opening);
      return opening;
    },
    async close(limitMs) {
      closed = true;
      const settled = [...underWay].map((opening) => {
        opening.cancel(shutdown());
        return opening.settled;
      });
      await within(clock, limitMs, Promise.all(settled), () => undefined);
    },
  };
}

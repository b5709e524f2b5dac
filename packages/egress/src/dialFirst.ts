import type { Duplex } from 'node:stream';
import { abortReason, type Clock, type Dial, type DialTarget } from '@behalf/kernel';

/** RFC 8305 section 5: how long one address may stay silent before the next is tried beside it. */
const STAGGER_MS = 250;

/**
 * Connects to the first of several checked addresses that answers: a black-holed IPv6 route must not cost the whole
 * connect timeout. Losers are closed.
 */
export function dialFirst(
  parts: { dial: Dial; clock: Clock },
  addresses: readonly string[],
  endpoint: Omit<DialTarget, 'address' | 'tunnel'>,
  signal: AbortSignal,
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const raceController = new AbortController();
    let nextIndex = 0;
    let pending = 0;
    let isSettled = false;
    let cancelTimer: () => void = () => undefined;

    const settle = (outcome: () => void) => {
      if (isSettled) return;
      isSettled = true;
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
      outcome();
      raceController.abort();
    };
    const onAbort = () => settle(() => reject(abortReason(signal)));

    const attempt = () => {
      cancelTimer();
      const address = addresses[nextIndex];
      if (isSettled || address === undefined) return;
      nextIndex += 1;
      pending += 1;
      if (nextIndex < addresses.length) cancelTimer = parts.clock.timer(STAGGER_MS, attempt);
      parts.dial({ ...endpoint, address }, raceController.signal).then(
        (socket) => {
          if (isSettled) socket.on('error', () => undefined).destroy();
          else settle(() => resolve(socket));
        },
        (error: unknown) => {
          pending -= 1;
          if (nextIndex < addresses.length) attempt();
          // Whatever the dialler threw is what the caller classifies.
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
          else if (pending === 0) settle(() => reject(error));
        },
      );
    };

    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    attempt();
  });
}

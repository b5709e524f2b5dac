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
  rest: Omit<DialTarget, 'address' | 'over'>,
  signal: AbortSignal,
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const race = new AbortController();
    let next = 0;
    let pending = 0;
    let settled = false;
    let cancelTimer: () => void = () => undefined;

    const settle = (outcome: () => void) => {
      if (settled) return;
      settled = true;
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
      outcome();
      race.abort();
    };
    const onAbort = () => settle(() => reject(abortReason(signal)));

    const attempt = () => {
      cancelTimer();
      const address = addresses[next];
      if (settled || address === undefined) return;
      next += 1;
      pending += 1;
      if (next < addresses.length) cancelTimer = parts.clock.timer(STAGGER_MS, attempt);
      parts.dial({ ...rest, address }, race.signal).then(
        (socket) => {
          if (settled) socket.on('error', () => undefined).destroy();
          else settle(() => resolve(socket));
        },
        (error: unknown) => {
          pending -= 1;
          if (next < addresses.length) attempt();
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

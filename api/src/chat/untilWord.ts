import { abortReason, type Clock } from '@behalf/kernel';
import { createBell } from './bell.ts';
import type { Running } from './running.ts';

/** A word is told with a notice. One that came by another door, or whose notice was lost, is seen after this. */
const POLL_MS = 2_000;

/**
 * Reads what was said until somebody said something, and again with all news of the conversation. Rejects with the
 * reason of the answer's signal.
 */
export async function untilWord<W>(
  { signal, onNews }: Pick<Running, 'signal' | 'onNews'>,
  clock: Clock,
  read: () => Promise<W | undefined>,
): Promise<W> {
  const bell = createBell(clock);
  const unlisten = onNews(bell.ring);
  signal.addEventListener('abort', bell.ring);
  const isStopped = () => signal.aborted;
  try {
    while (!isStopped()) {
      const word = await read();
      // Stopped while that was read: the word came too late.
      if (isStopped()) break;
      if (word !== undefined) return word;
      await bell.heard(POLL_MS);
    }
    throw abortReason(signal);
  } finally {
    unlisten();
    signal.removeEventListener('abort', bell.ring);
  }
}

import { abortReason, type Clock } from '@behalf/kernel';
import { createAutoResetEvent } from './autoResetEvent.ts';
import type { AnswerRun } from './answerRun.ts';

/** A word is told with a notice. One that came by another door, or whose notice was lost, is seen after this. */
const POLL_MS = 2_000;

/**
 * Reads what was said until somebody said something, and again with all news of the conversation. Rejects with the
 * reason of the answer's signal.
 */
export async function waitForDecision<T>(
  { signal, onChange }: Pick<AnswerRun, 'signal' | 'onChange'>,
  clock: Clock,
  read: () => Promise<T | undefined>,
): Promise<T> {
  const event = createAutoResetEvent(clock);
  const unsubscribe = onChange(event.set);
  signal.addEventListener('abort', event.set);
  const isStopped = () => signal.aborted;
  try {
    while (!isStopped()) {
      const decision = await read();
      // Stopped while that was read: the word came too late.
      if (isStopped()) break;
      if (decision !== undefined) return decision;
      await event.wait(POLL_MS);
    }
    throw abortReason(signal);
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', event.set);
  }
}

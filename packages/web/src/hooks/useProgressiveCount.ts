import { startTransition, useEffect, useState } from 'react';

/** A frame: what was added is shown, and keys are heard, before more is added. */
const STEP_DELAY_MS = 16;

/**
 * How much of a long list is rendered: a first piece at once, and the rest piece by piece while nobody waits for it. Another
 * `subject` is another list, and begins with its first piece.
 */
export function useProgressiveCount(total: number, step: number, resetKey = ''): number {
  const [count, setCount] = useState(step);
  const [currentKey, setCurrent] = useState(resetKey);
  if (currentKey !== resetKey) {
    setCurrent(resetKey);
    setCount(step);
  }
  const isComplete = count >= total;
  useEffect(() => {
    if (isComplete) return undefined;
    const timer = setTimeout(() => startTransition(() => setCount(count + step)), STEP_DELAY_MS);
    return () => clearTimeout(timer);
  }, [count, isComplete, step]);
  return Math.min(count, total);
}

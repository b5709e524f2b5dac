import { startTransition, useEffect, useState } from 'react';

/** A frame: what was added is shown, and keys are heard, before more is added. */
const PAUSE_MS = 16;

/**
 * How much of a long list is rendered: a first piece at once, and the rest piece by piece while nobody waits for it. Another
 * `subject` is another list, and begins with its first piece.
 */
export function useGrowing(total: number, step: number, subject = ''): number {
  const [count, setCount] = useState(step);
  const [current, setCurrent] = useState(subject);
  if (current !== subject) {
    setCurrent(subject);
    setCount(step);
  }
  const isWhole = count >= total;
  useEffect(() => {
    if (isWhole) return undefined;
    const timer = setTimeout(() => startTransition(() => setCount(count + step)), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [count, isWhole, step]);
  return Math.min(count, total);
}

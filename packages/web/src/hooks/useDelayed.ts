import { useEffect, useState } from 'react';

/** What is over sooner is not worth a word: it would only flicker. */
const PATIENCE_MS = 300;

/** True once something has been going on for long enough to say so. */
export function useDelayed(isActive: boolean, delayMs = PATIENCE_MS): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!isActive) return undefined;
    const timer = setTimeout(() => setLate(true), delayMs);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [isActive, delayMs]);
  return isActive && isLate;
}

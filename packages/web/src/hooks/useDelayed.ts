import { useEffect, useState } from 'react';

/** What is over sooner is not worth a word: it would only flicker. */
const NOTICEABLE_DELAY_MS = 300;

/** True once something has been going on for long enough to say so. */
export function useDelayed(isActive: boolean, delayMs = NOTICEABLE_DELAY_MS): boolean {
  const [isDelayed, setLate] = useState(false);
  useEffect(() => {
    if (!isActive) return undefined;
    const timer = setTimeout(() => setLate(true), delayMs);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [isActive, delayMs]);
  return isActive && isDelayed;
}

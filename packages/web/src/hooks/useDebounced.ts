import { useEffect, useState } from 'react';

/** A value once it has stayed the same for a moment: what is typed need not be asked for letter by letter. */
export function useDebounced<T>(value: T, delayMs = 250): T {
  const [debounced, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delayMs);
    return () => clearTimeout(timer);
  }, [value, delayMs]);
  return debounced;
}

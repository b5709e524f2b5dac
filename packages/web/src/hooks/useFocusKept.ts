import { useEffect, useRef, type RefObject } from 'react';

/**
 * Where the focus goes when an entry of a list is removed together with what had the focus: to the element with this ref,
 * and not to the top of the document.
 */
export function useFocusKept<T extends HTMLElement>(count: number): RefObject<T | null> {
  const target = useRef<T>(null);
  const before = useRef(count);
  useEffect(() => {
    if (count < before.current && document.activeElement === document.body) target.current?.focus();
    before.current = count;
  }, [count]);
  return target;
}

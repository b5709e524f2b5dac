import { useEffect, useRef, type RefObject } from 'react';

/**
 * Where the focus goes when an entry of a list is removed together with what had the focus: to the element with this ref,
 * and not to the top of the document.
 */
export function useFocusAfterRemoval<T extends HTMLElement>(count: number): RefObject<T | null> {
  const target = useRef<T>(null);
  const previousCount = useRef(count);
  useEffect(() => {
    if (count < previousCount.current && document.activeElement === document.body) target.current?.focus();
    previousCount.current = count;
  }, [count]);
  return target;
}

import { type RefObject, useEffect, useRef } from 'react';

/** Where somebody goes on after something was added or taken away. */
export function focusFirstControl(container: Element | null): void {
  const controls = 'input:not([readonly]), select, textarea, button';
  container?.querySelector<HTMLElement>(controls)?.focus();
}

/** What has to be corrected first. */
export function focusFirstInvalid(container: Element | null): void {
  container?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid]')?.focus();
}

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

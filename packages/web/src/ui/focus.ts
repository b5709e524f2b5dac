import { type RefObject, useEffect, useRef } from 'react';

/** Moves the focus to the first control, after something was added or removed. */
export function focusFirstControl(container: Element | null): void {
  const controls = 'input:not([readonly]), select, textarea, button';
  container?.querySelector<HTMLElement>(controls)?.focus();
}

/** Moves the focus to the first invalid control. */
export function focusFirstInvalid(container: Element | null): void {
  container?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid]')?.focus();
}

/**
 * If a list entry with the focus is removed, moves the focus to the element with this ref instead of the top of the
 * document.
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

import { useCallback, useEffect, useRef, useState, type MouseEvent } from 'react';
import { useLocation } from 'wouter';
import { useIsNarrow } from './useIsNarrow.ts';

/**
 * The navigation of a narrow screen, above the page. Opening it leads the focus into it, closing it leads the focus back
 * to its button. Whoever goes elsewhere has closed it too, and the page they come to takes the focus.
 */
export function useDrawer() {
  const [path] = useLocation();
  const isNarrow = useIsNarrow();
  const [openPath, setOpenedAt] = useState<string | null>(null);
  const isOpen = isNarrow && openPath === path;
  const button = useRef<HTMLButtonElement>(null);
  const drawer = useRef<HTMLDivElement>(null);

  const close = useCallback(() => {
    setOpenedAt(null);
    button.current?.focus();
  }, []);

  useEffect(() => {
    if (!isOpen) return undefined;
    drawer.current?.querySelector<HTMLElement>('a, button')?.focus();
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing) return;
      // Of a dialog above it.
      if (event.target instanceof Element && event.target.closest('dialog')) return;
      // Whoever else waits for this key was not meant.
      event.preventDefault();
      close();
    };
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, [isOpen, close]);

  return {
    isOpen,
    button,
    drawer,
    close,
    toggle: () => (isOpen ? close() : setOpenedAt(path)),
    /** A link to where one is leads nowhere else, and closes it all the same. */
    onClick: ({ target }: MouseEvent) => {
      const link = isOpen && target instanceof Element ? target.closest('a') : null;
      if (link?.getAttribute('href') === path) close();
    },
  };
}

import {
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { useLocation } from 'wouter';
import { strings } from '../strings/strings.ts';
import { IconButton } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import { classNames } from '../ui/classNames.ts';
import styles from './Shell.module.css';
import { Sidebar } from './Sidebar.tsx';
import { ReachabilityBanner, SignedOutBanner } from './StatusBanners.tsx';

/** Page frame: navigation on the left, page on the right. On narrow screens the navigation is a drawer. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const { shell, common } = strings;
  const { isOpen, button, drawer, close, toggle, onClick } = useDrawer();
  return (
    <div className={styles['shell']}>
      <a className={styles['skip']} href="#content" inert={isOpen}>
        {common.skipToContent}
      </a>
      <header className={styles['topbar']}>
        <IconButton
          ref={button}
          label={isOpen ? shell.closeMenu : shell.openMenu}
          icon={<Icon name={isOpen ? 'close' : 'menu'} />}
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={toggle}
        />
        <span className={styles['brand']}>{common.product}</span>
      </header>
      {isOpen && <div className={styles['scrim']} onClick={close} />}
      <div
        ref={drawer}
        id="navigation"
        className={classNames(styles['sidebar'], isOpen && styles['open'])}
        onClick={onClick}
      >
        <Sidebar />
      </div>
      <main id="content" className={styles['main']} tabIndex={-1} inert={isOpen}>
        <ReachabilityBanner />
        <SignedOutBanner />
        {children}
      </main>
    </div>
  );
}

/**
 * State of the navigation drawer on narrow screens. Opening it focuses its first link, closing it
 * focuses its button. Navigation closes it, and the new page takes the focus.
 */
function useDrawer() {
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
      // Escape belongs to the dialog above the drawer.
      if (event.target instanceof Element && event.target.closest('dialog')) return;
      // Prevents other Escape handlers, for example the one that stops an answer.
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
    /** A link to the current page does not navigate but still closes the drawer. */
    onClick: ({ target }: MouseEvent) => {
      const link = isOpen && target instanceof Element ? target.closest('a') : null;
      if (link?.getAttribute('href') === path) close();
    },
  };
}

/** Same breakpoint as in Shell.module.css. */
const narrowQuery = window.matchMedia('(max-width: 48rem)');

/** Returns whether the screen is too narrow for navigation beside the page. */
function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribeToWidth, () => narrowQuery.matches);
}

function subscribeToWidth(listener: () => void): () => void {
  narrowQuery.addEventListener('change', listener);
  return () => narrowQuery.removeEventListener('change', listener);
}

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

/** The frame: where one can go on the left, where one is on the right. On narrow screens the left is a drawer. */
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
 * The navigation of a narrow screen, above the page. Opening it leads the focus into it, closing it leads the focus back
 * to its button. Whoever goes elsewhere has closed it too, and the page they come to takes the focus.
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

/** As in Shell.module.css. */
const narrowQuery = window.matchMedia('(max-width: 48rem)');

/** Whether there is no room for the navigation beside the page. */
function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribeToWidth, () => narrowQuery.matches);
}

function subscribeToWidth(listener: () => void): () => void {
  narrowQuery.addEventListener('change', listener);
  return () => narrowQuery.removeEventListener('change', listener);
}

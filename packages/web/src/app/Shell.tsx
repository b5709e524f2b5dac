import type { ReactNode } from 'react';
import { strings } from '../strings/strings.ts';
import { IconButton } from '../ui/Button.tsx';
import { classNames } from '../ui/classNames.ts';
import { Icon } from '../ui/Icon.tsx';
import { ReachabilityBanner } from './ReachabilityBanner.tsx';
import styles from './Shell.module.css';
import { Sidebar } from './Sidebar.tsx';
import { SignedOutBanner } from './SignedOutBanner.tsx';
import { useDrawer } from './useDrawer.ts';

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

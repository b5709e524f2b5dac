import { useEffect, useRef, type ReactNode } from 'react';
import { useTitle } from '../hooks/useTitle.ts';
import { classNames } from './classNames.ts';
import styles from './Page.module.css';
import { Skeleton } from './Skeleton.tsx';

/** A page with its name and what can be done on it. Its heading takes the focus when the page is entered. */
export function Page({
  title,
  lead,
  actions,
  isWide = false,
  children,
}: {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}) {
  useTitle(title);
  const headingRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // Who came by keyboard or screen reader goes on reading from here, and not from the top of the document.
    if (document.activeElement === document.body || document.activeElement?.closest('nav'))
      headingRef.current?.focus();
  }, []);
  return (
    <div className={classNames(styles['page'], isWide && styles['wide'])}>
      <header className={styles['header']}>
        <div>
          <h1 ref={headingRef} tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <p className={styles['lead']}>{lead}</p>}
        </div>
        {actions !== undefined && <div className={styles['actions']}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A page whose code is on its way, in the room of one. */
export function PageSkeleton({ lines }: { readonly lines: number }) {
  return (
    <div className={styles['page']}>
      <Skeleton lines={lines} />
    </div>
  );
}

import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { strings } from '../strings/strings.ts';
import { EmptyState } from './EmptyState.tsx';
import styles from './Page.module.css';
import { Skeleton } from './Skeleton.tsx';
import { classNames } from './classNames.ts';

/** A page with title and actions. Its heading receives the focus when the user navigates to it. */
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
    // Keyboard and screen reader users continue at the heading instead of the top of the document.
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

/** A placeholder while the code of a page loads. */
export function PageSkeleton({ lines }: { readonly lines: number }) {
  return (
    <div className={styles['page']}>
      <Skeleton lines={lines} />
    </div>
  );
}

/** Sets the document title, which screen readers announce on navigation. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · ${strings.common.product}` : strings.common.product;
  }, [title]);
}

export function NotFound() {
  const { common } = strings;
  return (
    <Page title={common.notFoundTitle}>
      <EmptyState
        icon="search"
        title={common.notFoundText}
        actions={<Link href="/chat">{common.goHome}</Link>}
      />
    </Page>
  );
}

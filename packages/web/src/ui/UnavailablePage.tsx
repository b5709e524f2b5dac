import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from 'wouter';
import { EmptyState } from './EmptyState.tsx';
import { ErrorNotice } from './Notice.tsx';
import { Page } from './Page.tsx';
import { Skeleton } from './Skeleton.tsx';

/** Page of a server, block or set that cannot be shown: it does not exist, failed to load or is loading. */
export function UnavailablePage({
  title,
  texts,
  listPath,
  isNotFound,
  query: { error, refetch },
  skeletonLines,
}: {
  readonly title: string;
  readonly texts: { readonly notFoundTitle: string; readonly notFoundText: string; readonly back: string };
  /** Page to which the user can go back if the resource does not exist. */
  readonly listPath: string;
  readonly isNotFound: boolean;
  /** The query that loads the resource. */
  readonly query: Pick<UseQueryResult, 'error' | 'refetch'>;
  readonly skeletonLines: number;
}) {
  return (
    <Page title={title}>
      {isNotFound ? (
        <EmptyState
          icon="search"
          title={texts.notFoundTitle}
          actions={<Link href={listPath}>{texts.back}</Link>}
        >
          {texts.notFoundText}
        </EmptyState>
      ) : error === null ? (
        <Skeleton lines={skeletonLines} />
      ) : (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

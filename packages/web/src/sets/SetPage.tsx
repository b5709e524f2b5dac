import type { SetView } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { isForbidden } from '../api/servers.ts';
import { isSetNotFound, setQuery } from '../api/sets.ts';
import page from '../blocks/page/BlockPage.module.css';
import { strings } from '../strings/strings.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { SetRunner } from './run/SetRunner.tsx';
import { SetActions } from './SetActions.tsx';

/** One set: where it is run, and what became of its runs. */
export function SetPage({ id }: { readonly id: string }) {
  const words = strings.sets;
  const { data: set, error, refetch } = useQuery(setQuery(id));
  if (isSetNotFound(error)) {
    return (
      <Page title={words.title}>
        <EmptyState
          icon="search"
          title={words.notFoundTitle}
          actions={<Link href="/sets">{words.back}</Link>}
        >
          {words.notFoundText}
        </EmptyState>
      </Page>
    );
  }
  if (set && !isForbidden(error)) return <SetDetails key={id} set={set} />;
  return (
    <Page title={words.title}>
      {error === null ? <Skeleton lines={8} /> : <ErrorNotice error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}

function SetDetails({ set }: { readonly set: SetView }) {
  return (
    <Page title={set.title} lead={set.description} actions={<SetActions set={set} />}>
      <p className={page['back']}>
        <Link href="/sets">{strings.sets.back}</Link>
      </p>
      <SetRunner set={set} />
    </Page>
  );
}

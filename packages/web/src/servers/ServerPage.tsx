import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from 'wouter';
import { isGone, isRefused, serverQuery } from '../api/servers.ts';
import { useLostPermissions } from '../hooks/useLostBits.ts';
import { strings } from '../strings/strings.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { ForWhom } from './ForWhom.tsx';
import { KnownServer } from './page/KnownServer.tsx';

/** One server: how it stands, what to do about it, what it offers, and who looks after it. */
export function ServerPage({ name }: { readonly name: string }) {
  const reference = new URLSearchParams(useSearch()).get('for');
  // Nothing that was typed or found for one server is shown with another.
  const page = <NamedServer key={name} name={name} />;
  if (reference === null) return page;
  return (
    <ForWhom key={reference} name={name} reference={reference}>
      {page}
    </ForWhom>
  );
}

function NamedServer({ name }: { readonly name: string }) {
  const text = strings.servers;
  const { data: view, error, refetch } = useQuery(serverQuery(name));
  useLostPermissions();
  if (isGone(error)) {
    return (
      <Page title={name}>
        <EmptyState icon="search" title={text.goneTitle} actions={<Link href="/servers">{text.back}</Link>}>
          {text.goneText}
        </EmptyState>
      </Page>
    );
  }
  if (view && !isRefused(error)) return <KnownServer name={name} view={view} />;
  return (
    <Page title={name}>
      {error === null ? (
        <Skeleton lines={10} />
      ) : (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

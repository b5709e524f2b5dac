import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from 'wouter';
import { isServerNotFound, isForbidden, serverQuery } from '../api/servers.ts';
import { useRolePermissionLossToast } from '../hooks/usePermissionLossToast.ts';
import { strings } from '../strings/strings.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { ConnectLinkGate } from './ConnectLinkGate.tsx';
import { ServerDetails } from './page/ServerDetails.tsx';

/** One server: how it stands, what to do about it, what it offers, and who looks after it. */
export function ServerPage({ name }: { readonly name: string }) {
  const reference = new URLSearchParams(useSearch()).get('for');
  // Nothing that was typed or found for one server is shown with another.
  const page = <ServerContent key={name} name={name} />;
  if (reference === null) return page;
  return (
    <ConnectLinkGate key={reference} name={name} reference={reference}>
      {page}
    </ConnectLinkGate>
  );
}

function ServerContent({ name }: { readonly name: string }) {
  const words = strings.servers;
  const { data: view, error, refetch } = useQuery(serverQuery(name));
  useRolePermissionLossToast();
  if (isServerNotFound(error)) {
    return (
      <Page title={name}>
        <EmptyState
          icon="search"
          title={words.notFoundTitle}
          actions={<Link href="/servers">{words.back}</Link>}
        >
          {words.notFoundText}
        </EmptyState>
      </Page>
    );
  }
  if (view && !isForbidden(error)) return <ServerDetails name={name} view={view} />;
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

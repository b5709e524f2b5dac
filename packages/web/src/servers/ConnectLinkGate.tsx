import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ApiError } from '../api/apiError.ts';
import { encodeSegment } from '../api/request.ts';
import { connectLinkQuery } from '../api/servers.ts';
import { strings } from '../strings/strings.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';

/**
 * The page of a server for who came by a link that an MCP client showed. It was made for one user: to anybody else the page
 * is not shown, and does not offer the way to it, since they may have been sent here by somebody who wants their account.
 */
export function ConnectLinkGate({
  name,
  reference,
  children,
}: {
  readonly name: string;
  readonly reference: string;
  readonly children: ReactNode;
}) {
  const { connect, servers } = strings;
  const { isSuccess, error, refetch } = useQuery(connectLinkQuery(name, reference));
  if (isSuccess) return children;
  const code = error instanceof ApiError ? error.code : undefined;
  return (
    <Page title={name}>
      {code === 'MCP_CONNECT_LINK_FORBIDDEN' ? (
        <EmptyState
          icon="warning"
          title={connect.otherUserTitle}
          actions={<Link href="/servers">{servers.back}</Link>}
        >
          {connect.otherUserText}
        </EmptyState>
      ) : code === 'MCP_CONNECT_LINK_EXPIRED' ? (
        <EmptyState
          icon="clock"
          title={connect.expiredTitle}
          actions={<Link href={`/servers/${encodeSegment(name)}`}>{connect.openServer}</Link>}
        >
          {connect.expiredText}
        </EmptyState>
      ) : error === null ? (
        <Skeleton lines={10} />
      ) : (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

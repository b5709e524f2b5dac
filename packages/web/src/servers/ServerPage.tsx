import type { ServerView } from '@behalf/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useSearch } from 'wouter';
import { ApiError, encodeSegment } from '../api/request.ts';
import {
  connectLinkQuery,
  deleteServer,
  invalidateServers,
  isForbidden,
  isServerNotFound,
  removeCachedServer,
  serverQuery,
  serverToolsQuery,
  statusQuery,
  useStatusRefetch,
} from '../api/servers.ts';
import { usePermission, useUser } from '../api/user.ts';
import { usePermissionLossToast, useRolePermissionLossToast } from '../hooks/usePermissionLossToast.ts';
import { strings } from '../strings/strings.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { showToast } from '../ui/Toasts.tsx';
import { UnavailablePage } from '../ui/UnavailablePage.tsx';
import { SignInCard } from './credentials/SignInCard.tsx';
import { DiagnoseCard } from './diagnosis/DiagnoseCard.tsx';
import { ServerDialog } from './form/ServerDialog.tsx';
import { AboutServer } from './page/AboutServer.tsx';
import { OboCard } from './page/OboCard.tsx';
import styles from './page/ServerDetails.module.css';
import { StateCard, useReinitialize } from './page/StateCard.tsx';
import { ToolList } from './page/ToolList.tsx';
import { UserValues } from './page/UserValues.tsx';
import { ResourceActions } from './sharing/ResourceActions.tsx';
import { requiresServerSignIn, serverOrigin, toServerState } from './state/serverState.ts';

/** One server: its state, the next action, its tools and its administration. */
export function ServerPage({ name }: { readonly name: string }) {
  const reference = new URLSearchParams(useSearch()).get('for');
  // The key resets all input and results when another server is shown.
  const page = <ServerContent key={name} name={name} />;
  if (reference === null) return page;
  return (
    <ConnectLinkGate key={reference} name={name} reference={reference}>
      {page}
    </ConnectLinkGate>
  );
}

function ServerContent({ name }: { readonly name: string }) {
  const query = useQuery(serverQuery(name));
  const { data: view, error } = query;
  useRolePermissionLossToast();
  const isNotFound = isServerNotFound(error);
  if (view && !isNotFound && !isForbidden(error)) return <ServerDetails name={name} view={view} />;
  return (
    <UnavailablePage
      title={name}
      texts={strings.servers}
      listPath="/servers"
      isNotFound={isNotFound}
      query={query}
      skeletonLines={10}
    />
  );
}

/**
 * Checks the link that an MCP client displayed. It is bound to one user. For any other user, the page is hidden and
 * offers no sign-in: an attacker may have sent the link to connect their own account.
 */
function ConnectLinkGate({
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

/** The page of an existing server. */
function ServerDetails({ name, view }: { readonly name: string; readonly view: ServerView }) {
  const words = strings.servers;
  const user = useUser();
  const { data: status, refetch: refetchStatus } = useQuery(statusQuery(name));
  const { data: tools, error: toolsError, dataUpdatedAt, refetch } = useQuery(serverToolsQuery(name));
  const reinit = useReinitialize(name, view.version);
  usePermissionLossToast(view.permissions);
  useToolsRefetchOnConnect(name, status?.connectionState === 'connected', tools?.state === 'connected');
  useStatusRefetch(dataUpdatedAt, refetchStatus);

  const state = toServerState(view, status, tools);
  const isSignInThere = requiresServerSignIn(view, status);
  const isUsable = state.kind !== 'not_shared';
  const title = view.title ?? name;
  return (
    <Page title={title} lead={view.description} actions={<ServerActions name={name} view={view} />}>
      <p className={styles['back']}>
        <Link href="/servers">{words.back}</Link>
      </p>
      <StateCard name={name} view={view} state={state} isSignInThere={isSignInThere} reinit={reinit} />
      {isUsable && isSignInThere && <SignInCard server={name} />}
      {isUsable && view.obo && <OboCard scopes={view.obo.scopes} />}
      {isUsable && view.customUserVars && (
        <UserValues serverName={name} variables={view.customUserVars} onChanged={reinit.clear} />
      )}
      {isUsable && (
        <ToolList
          server={name}
          tools={tools}
          error={toolsError}
          discovered={reinit.outcome?.tools}
          onRetry={() => void refetch()}
        />
      )}
      <DiagnoseCard server={name} />
      <AboutServer
        name={name}
        view={view}
        origin={serverOrigin(view, user?.id, state.kind)}
        authority={tools?.authority}
        isOperator={user?.isOperator ?? false}
      />
    </Page>
  );
}

/** A new connection may provide tools that were not listed before. */
function useToolsRefetchOnConnect(name: string, isConnected: boolean, isListed: boolean): void {
  const queryClient = useQueryClient();
  const wasConnected = useRef(isConnected);
  useEffect(() => {
    const hasConnected = isConnected && !wasConnected.current;
    wasConnected.current = isConnected;
    if (hasConnected && !isListed) {
      void queryClient.invalidateQueries({ queryKey: serverToolsQuery(name).queryKey });
    }
  }, [queryClient, name, isConnected, isListed]);
}

/** Actions on the definition. The user's role and the permissions on the server must both allow them. */
function ServerActions({ name, view }: { readonly name: string; readonly view: ServerView }) {
  const words = strings.servers;
  // Editing and deleting require the same role permission as creating.
  const canChange = usePermission('CREATE') && view.source === 'user';
  return (
    <ResourceActions
      resource={{ kind: 'mcpServer', id: view.dbId ?? name }}
      title={view.title ?? name}
      permissions={view.permissions}
      canChange={canChange}
      texts={{ ...words, sharing: { ...words.sharing, lead: sharingLead(view) } }}
      edit={({ canEdit, onClose }) => (
        <ServerDialog
          server={{ name, view }}
          canEdit={canEdit}
          onClose={onClose}
          onSaved={(saved) => {
            showToast('success', words.saved(saved.title ?? name));
            onClose();
          }}
        />
      )}
      onShared={invalidateServers}
      deletion={{
        deleteResource: () => deleteServer(name),
        removeCached: (queryClient) => removeCachedServer(queryClient, name),
        nextPath: '/servers',
      }}
    />
  );
}

/** Explains which secrets of the server are shared. */
function sharingLead({ source, apiKey }: ServerView): string {
  const { sharing } = strings.servers;
  if (source !== 'user') return sharing.leadConfiguration;
  return apiKey?.source === 'admin' ? sharing.leadKey : sharing.lead;
}

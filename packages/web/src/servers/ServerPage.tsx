import type { ServerView } from '@behalf/contracts';
import { hasAclBit } from '@behalf/contracts/plain';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
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
import { useOpenDialog } from '../hooks/useOpenDialog.ts';
import { usePermissionLossToast, useRolePermissionLossToast } from '../hooks/usePermissionLossToast.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { ConfirmDialog } from '../ui/Dialog.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { showToast } from '../ui/Toasts.tsx';
import { SignInCard } from './credentials/SignInCard.tsx';
import { DiagnoseCard } from './diagnosis/DiagnoseCard.tsx';
import { ServerDialog } from './form/ServerDialog.tsx';
import { AboutServer } from './page/AboutServer.tsx';
import { OboCard } from './page/OboCard.tsx';
import styles from './page/ServerDetails.module.css';
import { StateCard, useReinitialize } from './page/StateCard.tsx';
import { ToolList } from './page/ToolList.tsx';
import { UserValues } from './page/UserValues.tsx';
import { SharingDialog } from './sharing/SharingDialog.tsx';
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

/**
 * Checks the link that an MCP client displayed. It is bound to one user. For any other user, the page is hidden and
 * offers no sign-in: an attacker may have sent the link to connect their own account.
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

/** The page of an existing server. */
export function ServerDetails({ name, view }: { readonly name: string; readonly view: ServerView }) {
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
export function ServerActions({ name, view }: { readonly name: string; readonly view: ServerView }) {
  const words = strings.servers;
  const [isDeleting, setDeleting] = useState(false);
  const isStored = view.source === 'user';
  // Editing and deleting require the same role permission as creating.
  const canDefine = usePermission('CREATE') && isStored;
  const canShare = usePermission('SHARE') && hasAclBit(view.permissions, 'SHARE');
  const canEdit = canDefine && hasAclBit(view.permissions, 'EDIT');
  const canDelete = canDefine && hasAclBit(view.permissions, 'DELETE');
  const title = view.title ?? name;
  const { open, show, close } = useOpenDialog({ edit: canEdit, share: canShare });
  return (
    <>
      {canEdit && (
        <Button icon={<Icon name="pencil" />} onClick={() => show('edit')}>
          {words.edit}
        </Button>
      )}
      {canShare && (
        <Button icon={<Icon name="share" />} onClick={() => show('share')}>
          {words.share}
        </Button>
      )}
      {canDelete && (
        <Button variant="danger" icon={<Icon name="trash" />} onClick={() => setDeleting(true)}>
          {words.remove}
        </Button>
      )}
      {open === 'edit' && (
        <ServerDialog
          server={{ name, view }}
          canEdit={canEdit}
          onClose={close}
          onSaved={(saved) => {
            showToast('success', words.saved(saved.title ?? name));
            close();
          }}
        />
      )}
      {open === 'share' && (
        <SharingDialog
          resource={{ kind: 'mcpServer', id: view.dbId ?? name }}
          resourceTexts={{ ...words.sharing, lead: sharingLead(view) }}
          title={title}
          callerAclBits={view.permissions}
          canShare={canShare}
          onClose={close}
          onShared={invalidateServers}
        />
      )}
      {isDeleting && <DeleteServerDialog name={name} title={title} onClose={() => setDeleting(false)} />}
    </>
  );
}

/** Explains which secrets of the server are shared. */
function sharingLead({ source, apiKey }: ServerView): string {
  const { sharing } = strings.servers;
  if (source !== 'user') return sharing.leadConfiguration;
  return apiKey?.source === 'admin' ? sharing.leadKey : sharing.lead;
}

function DeleteServerDialog({
  name,
  title,
  onClose,
}: {
  readonly name: string;
  readonly title: string;
  readonly onClose: () => void;
}) {
  const words = strings.servers;
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => deleteServer(name),
    onSuccess: () => {
      removeCachedServer(queryClient, name);
      navigate('/servers');
      showToast('success', words.removed(title));
    },
  });
  return (
    <ConfirmDialog
      title={words.removeTitle(title)}
      confirm={words.remove}
      isBusy={isPending}
      error={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      {words.removeText}
    </ConfirmDialog>
  );
}

import type { ServerView } from '@behalf/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { serverToolsQuery, statusQuery } from '../../api/servers.ts';
import { useUser } from '../../api/user.ts';
import { usePermissionLossToast } from '../../hooks/usePermissionLossToast.ts';
import { strings } from '../../strings/strings.ts';
import { Page } from '../../ui/Page.tsx';
import { SignInCard } from '../credentials/SignInCard.tsx';
import { DiagnoseCard } from '../diagnosis/DiagnoseCard.tsx';
import { serverOrigin } from '../state/origin.ts';
import { requiresServerSignIn, toServerState } from '../state/serverState.ts';
import { AboutServer } from './AboutServer.tsx';
import { OboCard } from './OboCard.tsx';
import styles from './ServerDetails.module.css';
import { ServerActions } from './ServerActions.tsx';
import { useStatusRefetch } from '../useStatusRefetch.ts';
import { StateCard } from './StateCard.tsx';
import { ToolList } from './ToolList.tsx';
import { useReinitialize } from './useReinitialize.ts';
import { UserValues } from './UserValues.tsx';

/** The page of a server that is there. */
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

/** A connection that came up by itself, or by somebody else's call, brings tools that were not known. */
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

import type { ServerView } from '@behalf/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { serverToolsQuery, statusQuery } from '../../api/servers.ts';
import { useUser } from '../../api/user.ts';
import { useLostBits } from '../../hooks/useLostBits.ts';
import { strings } from '../../strings/strings.ts';
import { Page } from '../../ui/Page.tsx';
import { SignInCard } from '../credentials/SignInCard.tsx';
import { DiagnoseCard } from '../diagnosis/DiagnoseCard.tsx';
import { originOf } from '../state/origin.ts';
import { signsInThere, stateOf } from '../state/serverState.ts';
import { About } from './About.tsx';
import { BehalfCard } from './BehalfCard.tsx';
import styles from './KnownServer.module.css';
import { ServerActions } from './ServerActions.tsx';
import { useFreshAfter } from '../useFreshAfter.ts';
import { StateCard } from './StateCard.tsx';
import { ToolList } from './ToolList.tsx';
import { useReinitialize } from './useReinitialize.ts';
import { UserValues } from './UserValues.tsx';

/** The page of a server that is there. */
export function KnownServer({ name, view }: { readonly name: string; readonly view: ServerView }) {
  const text = strings.servers;
  const user = useUser();
  const { data: status, refetch: refetchStatus } = useQuery(statusQuery(name));
  const { data: tools, error: toolsError, dataUpdatedAt, refetch } = useQuery(serverToolsQuery(name));
  const reinit = useReinitialize(name, view.version);
  useLostBits(view.permissions);
  useToolsOnceConnected(name, status?.connectionState === 'connected', tools?.state === 'connected');
  useFreshAfter(dataUpdatedAt, refetchStatus);

  const state = stateOf(view, status, tools);
  const isSignInThere = signsInThere(view, status);
  const isUsable = state.kind !== 'not_yours';
  const title = view.title ?? name;
  return (
    <Page title={title} lead={view.description} actions={<ServerActions name={name} view={view} />}>
      <p className={styles['back']}>
        <Link href="/servers">{text.back}</Link>
      </p>
      <StateCard name={name} view={view} state={state} isSignInThere={isSignInThere} reinit={reinit} />
      {isUsable && isSignInThere && <SignInCard server={name} />}
      {isUsable && view.obo && <BehalfCard scopes={view.obo.scopes} />}
      {isUsable && view.customUserVars && (
        <UserValues name={name} variables={view.customUserVars} onChanged={reinit.forget} />
      )}
      {isUsable && (
        <ToolList
          server={name}
          tools={tools}
          error={toolsError}
          found={reinit.outcome?.tools}
          onRetry={() => void refetch()}
        />
      )}
      <DiagnoseCard server={name} />
      <About
        name={name}
        view={view}
        origin={originOf(view, user?.id, state.kind)}
        authority={tools?.authority}
        isOperator={user?.isOperator ?? false}
      />
    </Page>
  );
}

/** A connection that came up by itself, or by somebody else's call, brings tools that were not known. */
function useToolsOnceConnected(name: string, isConnected: boolean, isListed: boolean): void {
  const client = useQueryClient();
  const was = useRef(isConnected);
  useEffect(() => {
    const cameUp = isConnected && !was.current;
    was.current = isConnected;
    if (cameUp && !isListed) {
      void client.invalidateQueries({ queryKey: serverToolsQuery(name).queryKey });
    }
  }, [client, name, isConnected, isListed]);
}

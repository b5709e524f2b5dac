import type { BlockView } from '@behalf/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { blockCheckQuery, blockQuery, isBlockNotFound } from '../api/blocks.ts';
import { isForbidden, serverToolsQuery } from '../api/servers.ts';
import { usePermissionLossToast, useRolePermissionLossToast } from '../hooks/usePermissionLossToast.ts';
import { strings } from '../strings/strings.ts';
import { keepSame } from '../tools/keepSame.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { BlockActions } from './page/BlockActions.tsx';
import { BlockHeader } from './page/BlockHeader.tsx';
import { BlockTrouble } from './page/BlockTrouble.tsx';
import { BlockRunner } from './run/BlockRunner.tsx';

/** One block: what it does, how it stands, and where it is run. */
export function BlockPage({ id }: { readonly id: string }) {
  // Nothing that was typed or found for one block is shown with another.
  return <NamedBlock key={id} id={id} />;
}

function NamedBlock({ id }: { readonly id: string }) {
  const words = strings.blocks;
  const { data: block, error, refetch } = useQuery(blockQuery(id));
  useRolePermissionLossToast();
  if (isBlockNotFound(error)) {
    return (
      <Page title={words.title}>
        <EmptyState icon="search" title={words.goneTitle} actions={<Link href="/blocks">{words.back}</Link>}>
          {words.goneText}
        </EmptyState>
      </Page>
    );
  }
  if (block && !isForbidden(error)) return <KnownBlock block={block} onReload={() => void refetch()} />;
  return (
    <Page title={words.title}>
      {error === null ? (
        <Skeleton lines={10} />
      ) : (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

function KnownBlock({ block, onReload }: { readonly block: BlockView; readonly onReload: () => void }) {
  const { id, title, description, permissions, server, tool: toolName } = block;
  const [picked, pick] = useState<string | undefined>(undefined);
  const check = useQuery({
    ...blockCheckQuery([id], picked === undefined ? {} : { [id]: picked }),
    placeholderData: keepPreviousData,
  });
  const tools = useQuery({
    ...serverToolsQuery(server.name),
    // A server that was made anew under the name of one that is gone is another one.
    enabled: server.state === 'available',
    structuralSharing: (before, after) => keepSame(before, after),
  });
  usePermissionLossToast(permissions);
  const checked = check.data?.blocks[0];
  const tool = tools.data?.tools.find(({ name }) => name === toolName);
  const isSettled = server.state !== 'available' || (!tools.isPending && !check.isPending);
  return (
    <Page title={title} lead={description} actions={<BlockActions block={block} />}>
      <BlockHeader block={block} view={tools.data ?? undefined} tool={tool} check={check.data} />
      {isSettled ? (
        <>
          <BlockTrouble block={block} check={check.data} />
          {check.error !== null && !check.data && (
            <ErrorNotice error={check.error} onRetry={() => void check.refetch()} />
          )}
          {server.state === 'available' && (
            <BlockRunner
              block={block}
              tool={tool}
              view={tools.data ?? undefined}
              checked={checked}
              missing={check.data?.missing}
              picked={picked}
              onPick={pick}
              onRecheck={() => void check.refetch()}
              onReload={onReload}
            />
          )}
        </>
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}

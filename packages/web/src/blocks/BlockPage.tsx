import type { BlockView } from '@behalf/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { blockCheckQuery, blockQuery, isBlockNotFound } from '../api/blocks.ts';
import { isForbidden, serverToolsQuery } from '../api/servers.ts';
import { usePermissionLossToast, useRolePermissionLossToast } from '../hooks/usePermissionLossToast.ts';
import { strings } from '../strings/strings.ts';
import { keepIfEqual } from '../tools/keepIfEqual.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { BlockActions } from './page/BlockActions.tsx';
import { BlockHeader } from './page/BlockHeader.tsx';
import { BlockNotices } from './page/BlockNotices.tsx';
import { BlockRunner } from './run/BlockRunner.tsx';

/** One block: what it does, how it stands, and where it is run. */
export function BlockPage({ id }: { readonly id: string }) {
  // Nothing that was typed or found for one block is shown with another.
  return <BlockContent key={id} id={id} />;
}

function BlockContent({ id }: { readonly id: string }) {
  const words = strings.blocks;
  const { data: block, error, refetch } = useQuery(blockQuery(id));
  useRolePermissionLossToast();
  if (isBlockNotFound(error)) {
    return (
      <Page title={words.title}>
        <EmptyState
          icon="search"
          title={words.notFoundTitle}
          actions={<Link href="/blocks">{words.back}</Link>}
        >
          {words.notFoundText}
        </EmptyState>
      </Page>
    );
  }
  if (block && !isForbidden(error)) return <BlockDetails block={block} onReload={() => void refetch()} />;
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

function BlockDetails({ block, onReload }: { readonly block: BlockView; readonly onReload: () => void }) {
  const { id, title, description, permissions, server, tool: toolName } = block;
  const [selectedCredential, setSelectedCredential] = useState<string | undefined>(undefined);
  const check = useQuery({
    ...blockCheckQuery([id], selectedCredential === undefined ? {} : { [id]: selectedCredential }),
    placeholderData: keepPreviousData,
  });
  const tools = useQuery({
    ...serverToolsQuery(server.name),
    // A server that was made anew under the name of one that is gone is another one.
    enabled: server.state === 'available',
    structuralSharing: (before, after) => keepIfEqual(before, after),
  });
  usePermissionLossToast(permissions);
  const checkedBlock = check.data?.blocks[0];
  const tool = tools.data?.tools.find(({ name }) => name === toolName);
  const isLoaded = server.state !== 'available' || (!tools.isPending && !check.isPending);
  return (
    <Page title={title} lead={description} actions={<BlockActions block={block} />}>
      <BlockHeader block={block} view={tools.data ?? undefined} tool={tool} check={check.data} />
      {isLoaded ? (
        <>
          <BlockNotices block={block} check={check.data} />
          {check.error !== null && !check.data && (
            <ErrorNotice error={check.error} onRetry={() => void check.refetch()} />
          )}
          {server.state === 'available' && (
            <BlockRunner
              block={block}
              tool={tool}
              view={tools.data ?? undefined}
              checkedBlock={checkedBlock}
              missing={check.data?.missing}
              selectedCredential={selectedCredential}
              onSelectCredential={setSelectedCredential}
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

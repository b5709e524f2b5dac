import type { BlockCheckView, BlockView, CheckedBlock, ServerToolsView, ToolDetail } from '@behalf/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import {
  blockCheckQuery,
  blockQuery,
  deleteBlock,
  invalidateBlocks,
  isBlockNotFound,
  removeCachedBlock,
} from '../api/blocks.ts';
import { explainErrorCode } from '../api/explain.ts';
import { encodeSegment } from '../api/request.ts';
import { isForbidden, serverToolsQuery } from '../api/servers.ts';
import { usePermissionLossToast, useRolePermissionLossToast } from '../hooks/usePermissionLossToast.ts';
import { AuthorityBadge } from '../result/AuthorityBadge.tsx';
import { keepIfEqual } from '../result/json.ts';
import { ResourceActions } from '../servers/sharing/ResourceActions.tsx';
import { strings } from '../strings/strings.ts';
import { Badge, type Tone } from '../ui/Badge.tsx';
import { TitleOrId } from '../ui/Identity.tsx';
import { ErrorNotice, Notice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { UnavailablePage } from '../ui/UnavailablePage.tsx';
import {
  type BlockStatus,
  blockStatus,
  blockStatusTones,
  describeDrift,
  initialBlockStatus,
} from './blockStatus.ts';
import styles from './page/BlockPage.module.css';
import { BlockRunner } from './run/BlockRunner.tsx';

/** Page of a block with its status and its run form. */
export function BlockPage({ id }: { readonly id: string }) {
  // The key resets the state when the ID changes.
  return <BlockContent key={id} id={id} />;
}

function BlockContent({ id }: { readonly id: string }) {
  const query = useQuery(blockQuery(id));
  const { data: block, error, refetch } = query;
  useRolePermissionLossToast();
  const isNotFound = isBlockNotFound(error);
  if (block && !isNotFound && !isForbidden(error)) {
    return <BlockDetails block={block} onReload={() => void refetch()} />;
  }
  return (
    <UnavailablePage
      title={strings.blocks.title}
      texts={strings.blocks}
      listPath="/blocks"
      isNotFound={isNotFound}
      query={query}
      skeletonLines={10}
    />
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
    // Do not list the tools of a new server that reuses the name of a deleted one.
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

/** Header of a block: tool, server, status and credential authority. */
function BlockHeader({
  block,
  view,
  tool,
  check,
}: {
  readonly block: BlockView;
  readonly view: ServerToolsView | undefined;
  readonly tool: ToolDetail | undefined;
  readonly check: BlockCheckView | undefined;
}) {
  const words = strings.blocks;
  const { panel } = strings.tools;
  const { server } = block;
  const checkedBlock = check?.blocks[0];
  const status = checkedBlock ? blockStatus(checkedBlock, check.missing) : initialBlockStatus(block);
  return (
    <header className={styles['header']}>
      <p className={styles['back']}>
        <Link href="/blocks">{words.back}</Link>
      </p>
      <p className={styles['names']}>
        <TitleOrId name={block.tool} title={tool?.title} />{' '}
        {server.state === 'available' ? (
          <Link href={`/servers/${encodeSegment(server.name)}`}>
            {panel.onServer(view?.title ?? server.name)}
          </Link>
        ) : (
          panel.onServer(server.name)
        )}
      </p>
      <div className={styles['badges']} role="group" aria-label={panel.badges}>
        <Badge tone={blockStatusTones[status]}>{words.states[status].name}</Badge>
        {checkedBlock?.drift && <Badge tone="warning">{words.drift.badge}</Badge>}
        {tool?.asksFirst && <Badge tone="warning">{panel.needsApproval}</Badge>}
        {tool?.annotations?.['readOnlyHint'] === true && <Badge>{panel.readOnly}</Badge>}
        {tool?.annotations?.['destructiveHint'] === true && <Badge tone="danger">{panel.destructive}</Badge>}
        {view && <AuthorityBadge authority={view.authority} />}
      </div>
    </header>
  );
}

/** The runner shows these states next to the required actions. */
const SHOWN_BY_RUNNER: readonly BlockStatus[] = ['checking', 'ready', 'asks', 'sign_in', 'values', 'choose'];

/** Reason why a block cannot run, and changes of its tool. */
function BlockNotices({
  block,
  check,
}: {
  readonly block: BlockView;
  readonly check: BlockCheckView | undefined;
}) {
  const checkedBlock = check?.blocks[0];
  const status = checkedBlock ? blockStatus(checkedBlock, check.missing) : initialBlockStatus(block);
  return (
    <>
      {!SHOWN_BY_RUNNER.includes(status) && <StatusNotice status={status} checkedBlock={checkedBlock} />}
      {checkedBlock?.drift && <DriftNotice drift={checkedBlock.drift} checkedBlock={checkedBlock} />}
    </>
  );
}

function StatusNotice({
  status,
  checkedBlock,
}: {
  readonly status: BlockStatus;
  readonly checkedBlock: CheckedBlock | undefined;
}) {
  const { name, text } = strings.blocks.states[status];
  const explanation = status === 'unknown' ? explainErrorCode(checkedBlock?.code ?? '') : undefined;
  const tone: Tone = blockStatusTones[status];
  return (
    <Notice tone={tone} title={name}>
      <p>{text}</p>
      {explanation && <p>{[explanation.title, explanation.text].join('. ')}</p>}
      {checkedBlock?.errors && (
        <ul className={styles['list']}>
          {checkedBlock.errors.map(({ path, message }, index) => (
            <li key={index}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

function DriftNotice({
  drift,
  checkedBlock: { runs, state },
}: {
  readonly drift: NonNullable<CheckedBlock['drift']>;
  readonly checkedBlock: CheckedBlock;
}) {
  const words = strings.blocks.drift;
  const consequence = runs ? words.runs : state === 'incomplete' ? words.undecided : words.broken;
  return (
    <Notice tone="warning" title={words.title}>
      <ul className={styles['list']}>
        {describeDrift(drift).flatMap(({ part, changes }) =>
          changes.map((change) => <li key={`${part} ${change}`}>{`${part}: ${change}`}</li>),
        )}
      </ul>
      <p>{`${consequence} ${words.fix}`}</p>
    </Notice>
  );
}

function BlockActions({ block: { id, title, permissions } }: { readonly block: BlockView }) {
  return (
    <ResourceActions
      resource={{ kind: 'block', id }}
      title={title}
      permissions={permissions}
      canChange
      texts={strings.blocks}
      edit={`/blocks/${encodeSegment(id)}/edit`}
      onShared={invalidateBlocks}
      deletion={{
        deleteResource: () => deleteBlock(id),
        removeCached: (queryClient) => removeCachedBlock(queryClient, id),
        nextPath: '/blocks',
      }}
    />
  );
}

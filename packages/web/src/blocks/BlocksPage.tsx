import type { BlockCheckView, BlockSummary, CheckedBlock, MissingParts } from '@behalf/contracts';
import { useQueries, useQuery } from '@tanstack/react-query';
import { memo, useDeferredValue } from 'react';
import { Link, useSearchParams } from 'wouter';
import { MAX_CHECKED_BLOCKS, blockCheckQuery, blocksQuery } from '../api/blocks.ts';
import { encodeSegment } from '../api/request.ts';
import { useServerTitleLookup } from '../api/servers.ts';
import { usePermission, useUser } from '../api/user.ts';
import { useRolePermissionLossToast } from '../hooks/usePermissionLossToast.ts';
import listStyles from '../servers/ServersPage.module.css';
import styles from '../servers/list/ServerCard.module.css';
import { strings } from '../strings/strings.ts';
import { Badge } from '../ui/Badge.tsx';
import buttons from '../ui/Button.module.css';
import { Button } from '../ui/Button.tsx';
import { EmptyState } from '../ui/EmptyState.tsx';
import { TextField } from '../ui/Field.tsx';
import { Icon } from '../ui/Icon.tsx';
import { usePagedItems } from '../ui/LongList.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { classNames } from '../ui/classNames.ts';
import { formatAgo } from '../ui/format.ts';
import {
  blockStatus,
  blockStatusTones,
  describeDrift,
  initialBlockStatus,
  needsAttention,
} from './blockStatus.ts';

/** List of the blocks that the user may run. The address contains the search text. */
export function BlocksPage() {
  const words = strings.blocks;
  const isUserLoaded = useUser() !== undefined;
  const canUse = usePermission('USE');
  useRolePermissionLossToast();
  const addLinks = (
    <>
      <Link href="/sets" className={classNames(buttons['button'], buttons['quiet'])}>
        {strings.sets.toSets}
      </Link>
      <Link href="/blocks/new" className={classNames(buttons['button'], buttons['primary'])}>
        <Icon name="plus" />
        {words.add}
      </Link>
    </>
  );
  return (
    <Page title={words.title} lead={words.lead} actions={canUse ? addLinks : undefined}>
      {isUserLoaded && !canUse ? (
        <EmptyState icon="shield" title={words.forbiddenTitle}>
          {words.forbiddenText}
        </EmptyState>
      ) : (
        <AllBlocks />
      )}
    </Page>
  );
}

function AllBlocks() {
  const words = strings.blocks;
  const { data: blocks, error, refetch } = useQuery(blocksQuery);
  if (!blocks) {
    if (error === null) return <Skeleton lines={8} />;
    return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  }
  if (blocks.length > 0) return <SearchableBlocks blocks={blocks} />;
  return (
    <EmptyState
      icon="block"
      title={words.noneTitle}
      actions={
        <>
          <Link href="/blocks/new">{words.add}</Link>
          <Link href="/tools">{words.tryTool}</Link>
        </>
      }
    >
      {words.noneText}
    </EmptyState>
  );
}

const PAGE_SIZE = 50;

function SearchableBlocks({ blocks }: { readonly blocks: readonly BlockSummary[] }) {
  const words = strings.blocks;
  const user = useUser();
  const [params, setParams] = useSearchParams();
  const search = params.get('q') ?? '';
  const getServerTitle = useServerTitleLookup();
  const matches = filterAndSortBlocks(blocks, useDeferredValue(search), getServerTitle);
  const { shown, nextCount, showMore } = usePagedItems(matches, PAGE_SIZE);
  const checks = useBlockChecks(shown.map(({ id }) => id));
  const setSearch = (text: string) => setParams(text === '' ? {} : { q: text }, { replace: true });
  return (
    <>
      <div role="search">
        <TextField
          type="search"
          label={words.search}
          placeholder={words.searchPlaceholder}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      </div>
      <p className="visually-hidden" role="status">
        {words.count(matches.length)}
      </p>
      {matches.length === 0 ? (
        <EmptyState
          icon="search"
          title={words.noMatchTitle}
          actions={<Button onClick={() => setSearch('')}>{words.showAll}</Button>}
        >
          {words.noMatchText}
        </EmptyState>
      ) : (
        <ul className={listStyles['list']}>
          {shown.map((block) => (
            <BlockCard
              key={block.id}
              block={block}
              check={checks.get(block.id)}
              isOwner={block.owner === user?.id}
              serverTitle={getServerTitle(block.server.name)}
            />
          ))}
        </ul>
      )}
      {nextCount > 0 && <Button onClick={showMore}>{words.showMore(nextCount)}</Button>}
    </>
  );
}

/** List entry of a block with its status. */
export const BlockCard = memo(function BlockCard({
  block,
  check,
  isOwner,
  serverTitle,
}: {
  readonly block: BlockSummary;
  readonly check: BlockCheck | undefined;
  readonly isOwner: boolean;
  readonly serverTitle: string;
}) {
  const words = strings.blocks;
  const { id, title, description, tool, updatedAt } = block;
  const status = check ? blockStatus(check.checkedBlock, check.missing) : initialBlockStatus(block);
  const drift = check?.checkedBlock.drift;
  return (
    <li className={styles['card']}>
      <div className={styles['head']}>
        <h2 className={styles['names']}>
          <Link href={`/blocks/${encodeSegment(id)}`} className={styles['title']}>
            {title}
          </Link>
        </h2>
        <Badge tone={blockStatusTones[status]}>{words.states[status].name}</Badge>
      </div>
      {description !== undefined && <p className={styles['description']}>{description}</p>}
      {needsAttention(status) && <ProblemText text={words.states[status].text} />}
      {drift && (
        <ProblemText
          text={describeDrift(drift)
            .map(({ part, changes }) => `${words.drift.badge}. ${part}: ${changes.join('; ')}.`)
            .join(' ')}
        />
      )}
      <p className={styles['facts']}>
        <Badge>{isOwner ? words.owned : words.shared}</Badge>
        <span>{words.toolOnServer(tool, serverTitle)}</span>
        <span>{words.changed(formatAgo(updatedAt))}</span>
      </p>
    </li>
  );
});

function ProblemText({ text }: { readonly text: string }) {
  return (
    <p className={styles['problem']}>
      <Icon name="warning" size={16} />
      <span>{text}</span>
    </p>
  );
}

/** Filters by all search terms and sorts by title. All users see the same order. */
export function filterAndSortBlocks(
  blocks: readonly BlockSummary[],
  search: string,
  getServerTitle: (server: string) => string = (server) => server,
): BlockSummary[] {
  const searchWords = search.toLowerCase().split(/\s+/).filter(Boolean);
  return blocks
    .filter(({ title, description = '', server, tool }) => {
      const text =
        `${title} ${description} ${server.name} ${getServerTitle(server.name)} ${tool}`.toLowerCase();
      return searchWords.every((word) => text.includes(word));
    })
    .sort((a, b) => a.title.localeCompare(b.title) || (a.id < b.id ? -1 : 1));
}

export interface BlockCheck {
  readonly checkedBlock: CheckedBlock;
  readonly missing: MissingParts;
}

/** Checks the blocks in chunks. Returns the results that have arrived. */
export function useBlockChecks(ids: readonly string[]): ReadonlyMap<string, BlockCheck> {
  const chunks = Array.from({ length: Math.ceil(ids.length / MAX_CHECKED_BLOCKS) }, (_, index) =>
    ids.slice(index * MAX_CHECKED_BLOCKS, (index + 1) * MAX_CHECKED_BLOCKS),
  );
  return useQueries({
    queries: chunks.map((chunk) => blockCheckQuery(chunk)),
    combine: (results) => checksByBlock(results.flatMap(({ data }) => data ?? [])),
  });
}

function checksByBlock(responses: readonly BlockCheckView[]): ReadonlyMap<string, BlockCheck> {
  return new Map(
    responses.flatMap(({ blocks, missing }) =>
      blocks.map((checkedBlock) => [checkedBlock.id, { checkedBlock, missing }]),
    ),
  );
}

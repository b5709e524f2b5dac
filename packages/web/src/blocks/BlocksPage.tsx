import type { BlockSummary } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { Link, useSearchParams } from 'wouter';
import { blocksQuery } from '../api/blocks.ts';
import { useServerTitleLookup } from '../api/serverTitleLookup.ts';
import { usePermission, useUser } from '../api/user.ts';
import { useRolePermissionLossToast } from '../hooks/usePermissionLossToast.ts';
import listStyles from '../servers/ServersPage.module.css';
import { usePagedItems } from '../servers/usePagedItems.ts';
import { strings } from '../strings/strings.ts';
import buttons from '../ui/Button.module.css';
import { Button } from '../ui/Button.tsx';
import { classNames } from '../ui/classNames.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { TextField } from '../ui/Field.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { BlockCard } from './list/BlockCard.tsx';
import { filterAndSortBlocks } from './list/filterAndSortBlocks.ts';
import { useBlockChecks } from './state/useBlockChecks.ts';

/** The blocks one may run. What is searched for stands in the address. */
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

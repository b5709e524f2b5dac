import type { BlockSummary } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { Link, useSearchParams } from 'wouter';
import { blocksQuery } from '../api/blocks.ts';
import { useServerTitles } from '../api/serverTitles.ts';
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
import { filterBlocks } from './list/filterBlocks.ts';
import { useBlockChecks } from './state/useBlockChecks.ts';

/** The blocks one may run. What is searched for stands in the address. */
export function BlocksPage() {
  const words = strings.blocks;
  const isKnown = useUser() !== undefined;
  const mayUse = usePermission('USE');
  useRolePermissionLossToast();
  const add = (
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
    <Page title={words.title} lead={words.lead} actions={mayUse ? add : undefined}>
      {isKnown && !mayUse ? (
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
  if (blocks.length > 0) return <FilteredBlocks blocks={blocks} />;
  return (
    <EmptyState
      icon="block"
      title={words.noneTitle}
      actions={
        <>
          <Link href="/blocks/new">{words.add}</Link>
          <Link href="/tools">{words.noneTry}</Link>
        </>
      }
    >
      {words.noneText}
    </EmptyState>
  );
}

const STEP = 50;

function FilteredBlocks({ blocks }: { readonly blocks: readonly BlockSummary[] }) {
  const words = strings.blocks;
  const user = useUser();
  const [params, setParams] = useSearchParams();
  const search = params.get('q') ?? '';
  const serverTitle = useServerTitles();
  const found = filterBlocks(blocks, useDeferredValue(search), serverTitle);
  const { shown, next, showMore } = usePagedItems(found, STEP);
  const checks = useBlockChecks(shown.map(({ id }) => id));
  const searchFor = (text: string) => setParams(text === '' ? {} : { q: text }, { replace: true });
  return (
    <>
      <div role="search">
        <TextField
          type="search"
          label={words.search}
          placeholder={words.searchPlaceholder}
          value={search}
          onChange={({ target }) => searchFor(target.value)}
        />
      </div>
      <p className="visually-hidden" role="status">
        {words.found(found.length)}
      </p>
      {found.length === 0 ? (
        <EmptyState
          icon="search"
          title={words.noMatchTitle}
          actions={<Button onClick={() => searchFor('')}>{words.showAll}</Button>}
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
              isOwn={block.owner === user?.id}
              serverTitle={serverTitle(block.server.name)}
            />
          ))}
        </ul>
      )}
      {next > 0 && <Button onClick={showMore}>{words.showMore(next)}</Button>}
    </>
  );
}

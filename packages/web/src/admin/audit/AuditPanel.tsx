import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { auditExportAddress, auditQuery, type AuditEntry } from '../../api/admin.ts';
import { useUser } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { ButtonLink } from '../../ui/ButtonLink.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { AuditFilterForm } from './AuditFilterForm.tsx';
import { AuditVerify } from './AuditVerify.tsx';
import { EventDialog } from './EventDialog.tsx';
import { EventList } from './EventList.tsx';
import { readFilters, writeFilters, type AuditFilters } from './filters.ts';
import { useServerTitles } from '../useServerTitles.ts';
import { useActorNames } from './useActorNames.ts';

/** Who did what, the newest first. What is looked for stands in the address. */
export function AuditPanel() {
  const { audit } = strings.admin;
  const queryClient = useQueryClient();
  const isOperator = useUser()?.isOperator ?? false;
  const [params, setParams] = useSearchParams();
  const filters = writeFilters(readFilters(params));
  const query = auditQuery(filters);
  const log = useInfiniteQuery(query);
  const names = useActorNames();
  const titles = useServerTitles();
  const [openEntry, setOpenEntry] = useState<AuditEntry | null>(null);

  function apply(next: AuditFilters): void {
    setOpenEntry(null);
    setParams(writeFilters(next));
  }

  /** The newest, and only the first page of them: the others would be asked for one after the other. */
  function refetchNewest(): void {
    queryClient.setQueryData(query.queryKey, (data) => ({
      pages: data?.pages.slice(0, 1) ?? [],
      pageParams: data?.pageParams.slice(0, 1) ?? [],
    }));
    void log.refetch();
  }

  return (
    <Page
      title={audit.title}
      lead={audit.lead}
      isWide
      actions={
        <>
          <Button
            icon={<Icon name="refresh" />}
            isBusy={log.isRefetching && !log.isFetchingNextPage}
            onClick={refetchNewest}
          >
            {strings.common.refresh}
          </Button>
          <ButtonLink href={auditExportAddress(filters)} download icon={<Icon name="download" />}>
            {audit.export}
          </ButtonLink>
        </>
      }
    >
      {isOperator && <AuditVerify />}
      <AuditFilterForm applied={filters} onApply={apply} />
      {log.error && <ErrorNotice error={log.error} onRetry={() => void log.refetch()} />}
      {log.isPending && <Skeleton lines={14} />}
      {log.data && (
        <EventList
          pages={log.data.pages}
          userNames={names}
          serverTitles={titles}
          isFiltered={filters !== ''}
          onOpen={setOpenEntry}
          onClear={() => apply({})}
        />
      )}
      {log.hasNextPage && (
        <div>
          <Button isBusy={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            {log.data?.pages.at(-1)?.events.length === 0 ? audit.searchOlder : strings.common.more}
          </Button>
        </div>
      )}
      {openEntry && (
        <EventDialog
          entry={openEntry}
          userNames={names}
          serverTitles={titles}
          onFilter={apply}
          onClose={() => setOpenEntry(null)}
        />
      )}
    </Page>
  );
}

import type { AuditVerifyView } from '@behalf/contracts';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useSearchParams } from 'wouter';
import {
  type AuditEntry,
  auditExportAddress,
  auditQuery,
  useServerTitles,
  usersQuery,
  verifyAudit,
} from '../../api/admin.ts';
import { useUser } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { ButtonLink } from '../../ui/ButtonLink.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { formatNumber } from '../../ui/format.ts';
import { AuditFilterForm } from './AuditFilterForm.tsx';
import styles from './AuditVerify.module.css';
import { EventDialog, EventList } from './EventList.tsx';
import { type AuditFilters, readFilters, writeFilters } from './filters.ts';

/** Audit log, newest events first. The address contains the filters. */
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

  /** Reloads the first page only. Otherwise TanStack Query would refetch all loaded pages in sequence. */
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

/** Returns user names by ID, from the loaded pages of the user list. Audit events contain only IDs. */
function useActorNames(): ReadonlyMap<string, string> {
  const { data } = useInfiniteQuery(usersQuery(''));
  return useMemo(
    () => new Map(data?.pages.flatMap(({ users }) => users.map(({ id, name }) => [id, name] as const))),
    [data],
  );
}

/** Maximum number of problems shown. The response can contain more. */
const MAX_LISTED = 50;

/** Verifies the segment chains of the audit log and shows the result. */
function AuditVerify() {
  const { audit } = strings.admin;
  const verifyMutation = useMutation({ mutationFn: verifyAudit });
  return (
    <div className={styles['verify']}>
      <div className={styles['ask']}>
        <Button
          icon={<Icon name="shield" />}
          isBusy={verifyMutation.isPending}
          onClick={() => verifyMutation.mutate()}
        >
          {audit.verify}
        </Button>
        <p className={styles['hint']}>{verifyMutation.isPending ? audit.verifying : audit.verifyHint}</p>
      </div>
      {verifyMutation.error && <ErrorNotice error={verifyMutation.error} />}
      {verifyMutation.data && <VerifyReport report={verifyMutation.data} />}
    </div>
  );
}

function VerifyReport({ report }: { readonly report: AuditVerifyView }) {
  const { audit } = strings.admin;
  const { ok, problems, more } = report;
  const [events, segments, writers] = [report.events, report.segments, report.writers].map(formatNumber);
  const summary = audit.verified(events ?? '', segments ?? '', writers ?? '');
  if (ok) {
    return (
      <Notice tone="success" title={audit.verifiedTitle}>
        {summary}
      </Notice>
    );
  }
  const unlisted = more + Math.max(0, problems.length - MAX_LISTED);
  return (
    <Notice tone="danger" title={audit.brokenTitle}>
      <p>{summary}</p>
      <ul className={styles['problems']}>
        {problems.slice(0, MAX_LISTED).map(({ writer, seq, through, problem }) => (
          <li key={`${writer} ${seq} ${problem}`}>
            {audit.problems[problem]} <code>{audit.segmentRange(writer, seq, through)}</code>
          </li>
        ))}
      </ul>
      {unlisted > 0 && <p>{audit.moreProblems(formatNumber(unlisted))}</p>}
    </Notice>
  );
}

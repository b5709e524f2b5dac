import { useQuery } from '@tanstack/react-query';
import { connectionsQuery } from '../../api/admin.ts';
import { strings } from '../../strings/strings.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { LongList } from '../../ui/LongList.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { Metrics } from '../Metrics.tsx';
import { formatNumber } from '../formatNumber.ts';
import { sortByCondition } from './condition.ts';
import { ConnectionRow } from './ConnectionRow.tsx';
import styles from './ConnectionsPanel.module.css';

/** What this process has open, and what fails. It follows by itself. */
export function ConnectionsPanel() {
  const { connections } = strings.admin;
  const { data, error, refetch } = useQuery(connectionsQuery);
  const totals = data?.totals;
  return (
    <Page title={connections.title} lead={connections.lead(data?.replica ?? strings.admin.pending)} isWide>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={10} />}
      {totals && (
        <Metrics
          figures={[
            { name: connections.shared, value: formatNumber(totals.shared) },
            { name: connections.perUser, value: formatNumber(totals.user) },
            ...(totals.stateless === undefined
              ? []
              : [{ name: connections.stateless, value: formatNumber(totals.stateless) }]),
            {
              name: connections.breakers,
              value: formatNumber(totals.breakersOpen),
              isProblem: totals.breakersOpen > 0,
            },
          ]}
        />
      )}
      <p className="visually-hidden" aria-live="polite">
        {totals && totals.breakersOpen > 0 && connections.breakersTitle(totals.breakersOpen)}
      </p>
      {data?.servers.length === 0 && (
        <EmptyState icon="server" title={connections.emptyTitle}>
          {connections.emptyText}
        </EmptyState>
      )}
      {data && data.servers.length > 0 && (
        <div className={styles['list']}>
          <LongList
            label={connections.title}
            items={sortByCondition(data.servers)}
            keyOf={({ server }) => server}
            itemHeight={3.5}
          >
            {(server) => <ConnectionRow server={server} />}
          </LongList>
        </div>
      )}
    </Page>
  );
}

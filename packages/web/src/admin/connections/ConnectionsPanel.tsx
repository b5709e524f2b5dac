import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { type LiveServer, connectionsQuery } from '../../api/admin.ts';
import { explainErrorCode } from '../../api/explain.ts';
import { encodeSegment } from '../../api/request.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { LongList } from '../../ui/LongList.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { formatAgo, formatNumber } from '../../ui/format.ts';
import { CodeLabel } from '../CodeLabel.tsx';
import { Metrics } from '../Metrics.tsx';
import styles from './ConnectionsPanel.module.css';
import { conditionTones, retryText, sortByCondition, toCondition } from './condition.ts';

/** Connections and failures of this replica, refreshed automatically. */
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

/** Connection state of a server, its users and its error. */
function ConnectionRow({ server: connection }: { readonly server: LiveServer }) {
  const { connections } = strings.admin;
  const { server, title, scope, users, inFlight, code, since, retryAt } = connection;
  const condition = toCondition(connection);
  const times = [
    since !== undefined && connections.since(formatAgo(since)),
    retryAt !== undefined && retryText(retryAt),
  ].filter((words) => words !== false);
  return (
    <div role="listitem" className={styles['row']}>
      <div className={styles['who']}>
        <Link href={`/servers/${encodeSegment(server)}`}>{title ?? server}</Link>
        {title !== undefined && title !== server && <code>{server}</code>}
      </div>
      <div>
        <Badge tone={conditionTones[condition]}>{connections.conditions[condition]}</Badge>
      </div>
      <p className={styles['facts']}>
        {scope === 'app' ? connections.sharedConnection : connections.perUserConnections(users)}
        {inFlight !== undefined && ` · ${connections.inFlight(formatNumber(inFlight))}`}
      </p>
      {(code !== undefined || times.length > 0) && (
        <div className={styles['wrong']}>
          {code !== undefined && (
            <p>
              <CodeLabel code={code} />
            </p>
          )}
          <p className={styles['facts']}>
            {code !== undefined && explainErrorCode(code)?.text} {times.join(' · ')}
          </p>
        </div>
      )}
    </div>
  );
}

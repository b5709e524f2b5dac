import { Link } from 'wouter';
import type { LiveServer } from '../../api/admin.ts';
import { explainErrorCode } from '../../api/explain.ts';
import { encodeSegment } from '../../api/request.ts';
import { formatAgo } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { CodeLabel } from '../CodeLabel.tsx';
import { formatNumber } from '../formatNumber.ts';
import { toCondition, conditionTones } from './condition.ts';
import styles from './ConnectionsPanel.module.css';
import { retryText } from './retryText.ts';

/** One server: how it is doing, for whom, and what is wrong with it. */
export function ConnectionRow({ server: connection }: { readonly server: LiveServer }) {
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

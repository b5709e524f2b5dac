import { Link } from 'wouter';
import type { LiveServer } from '../../api/admin.ts';
import { explainCode } from '../../api/explain.ts';
import { segment } from '../../api/request.ts';
import { formatAgo } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { CodeWords } from '../CodeWords.tsx';
import { formatNumber } from '../formatNumber.ts';
import { conditionOf, conditionTones } from './condition.ts';
import styles from './ConnectionsPanel.module.css';
import { retryWords } from './retryWords.ts';

/** One server: how it is doing, for whom, and what is wrong with it. */
export function ConnectionRow({ server: live }: { readonly server: LiveServer }) {
  const { connections } = strings.admin;
  const { server, title, scope, users, inFlight, code, since, retryAt } = live;
  const condition = conditionOf(live);
  const times = [
    since !== undefined && connections.since(formatAgo(since)),
    retryAt !== undefined && retryWords(retryAt),
  ].filter((words) => words !== false);
  return (
    <div role="listitem" className={styles['row']}>
      <div className={styles['who']}>
        <Link href={`/servers/${segment(server)}`}>{title ?? server}</Link>
        {title !== undefined && title !== server && <code>{server}</code>}
      </div>
      <div>
        <Badge tone={conditionTones[condition]}>{connections.conditions[condition]}</Badge>
      </div>
      <p className={styles['facts']}>
        {scope === 'app' ? connections.oneForAll : connections.oneForEach(users)}
        {inFlight !== undefined && ` · ${connections.inFlight(formatNumber(inFlight))}`}
      </p>
      {(code !== undefined || times.length > 0) && (
        <div className={styles['wrong']}>
          {code !== undefined && (
            <p>
              <CodeWords code={code} />
            </p>
          )}
          <p className={styles['facts']}>
            {code !== undefined && explainCode(code)?.text} {times.join(' · ')}
          </p>
        </div>
      )}
    </div>
  );
}

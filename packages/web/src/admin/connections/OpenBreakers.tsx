import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { connectionsQuery } from '../../api/admin.ts';
import { encodeSegment } from '../../api/request.ts';
import { strings } from '../../strings/strings.ts';
import { Notice } from '../../ui/Notice.tsx';
import { CodeLabel } from '../CodeLabel.tsx';
import { retryText, sortByCondition } from './condition.ts';
import styles from './OpenBreakers.module.css';

/** Servers with an open circuit breaker. Renders nothing if there are none. */
export function OpenBreakers() {
  const { connections } = strings.admin;
  const { data } = useQuery(connectionsQuery);
  const open = sortByCondition(data?.servers ?? []).filter(({ isBreakerOpen }) => isBreakerOpen);
  if (open.length === 0) return null;
  return (
    <Notice tone="warning" title={connections.breakersTitle(open.length)}>
      <p>{connections.breakersText}</p>
      <ul className={styles['list']}>
        {open.map(({ server, title, code, retryAt }) => (
          <li key={server}>
            <Link href={`/servers/${encodeSegment(server)}`}>{title ?? server}</Link>
            {code !== undefined && <CodeLabel code={code} />}
            {retryAt !== undefined && <span>{retryText(retryAt)}</span>}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

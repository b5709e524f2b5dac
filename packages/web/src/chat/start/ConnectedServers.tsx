import type { ToolsView } from '@behalf/contracts';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from 'wouter';
import { usePermission } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { serverStateTones } from '../../ui/serverStateTones.ts';
import styles from './Start.module.css';

const MAX_SHOWN = 6;

/** The servers there are for this user, and how they stand. */
export function ConnectedServers({ query }: { readonly query: UseQueryResult<ToolsView['servers']> }) {
  const { start: words, chooser } = strings.chat;
  const canCreate = usePermission('CREATE');
  const servers = Object.entries(query.data ?? {});
  return (
    <section className={styles['section']} aria-labelledby="connected">
      <h2 id="connected">{words.servers}</h2>
      {query.isPending && <Skeleton lines={2} />}
      {query.error && !query.data && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && servers.length === 0 && (
        <p className={styles['lead']}>
          {words.noServers} {canCreate && <Link href="/servers">{words.addServer}</Link>}
        </p>
      )}
      <ul className={styles['servers']}>
        {servers.slice(0, MAX_SHOWN).map(([name, { title, state, tools }]) => (
          <li key={name}>
            <Link href={`/servers/${encodeURIComponent(name)}`} className={styles['server']}>
              <span className={styles['serverName']}>{title}</span>
              <Badge tone={serverStateTones[state]}>{chooser.states[state]}</Badge>
              {state === 'connected' && (
                <span className={styles['count']}>{chooser.toolCount(tools.length)}</span>
              )}
            </Link>
          </li>
        ))}
      </ul>
      {servers.length > MAX_SHOWN && <Link href="/servers">{chooser.goToServers}</Link>}
    </section>
  );
}

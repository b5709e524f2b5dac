import type { ToolsView } from '@behalf/contracts';
import { type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { conversationsQuery } from '../../api/chat.ts';
import { allToolsQuery } from '../../api/servers.ts';
import { usePermission, useUser } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { serverStateTones } from '../../ui/stateTones.ts';
import { useConversationActions } from '../conversationActions.ts';
import { NextSteps } from './NextSteps.tsx';
import styles from './Start.module.css';
import { suggestExamples } from './suggestExamples.ts';

/** Suggestions for a new conversation. A user without conversations also sees the servers and next steps. */
export function EmptyConversation() {
  const words = strings.chat.start;
  const { session, focusComposer } = useConversationActions();
  const user = useUser();
  const isFirstConversation = useInfiniteQuery(conversationsQuery).data?.pages[0]?.conversations.length === 0;
  const tools = useQuery(allToolsQuery);
  const examples = tools.data ? suggestExamples(tools.data) : [];
  return (
    <div className={styles['start']}>
      <div>
        <h2 className={styles['title']}>{isFirstConversation ? words.firstTitle : words.title}</h2>
        {isFirstConversation && <p className={styles['lead']}>{words.firstLead}</p>}
      </div>
      {examples.length > 0 && (
        <section aria-label={words.examplesTitle}>
          <ul className={styles['tries']}>
            {examples.map(({ server, tool, title, text }) => (
              <li key={JSON.stringify([server, tool])}>
                <button
                  type="button"
                  className={styles['try']}
                  onClick={() => {
                    session.draft.set(text);
                    focusComposer();
                  }}
                >
                  <span className={styles['tryTitle']}>{title}</span>
                  <span className={styles['tryText']}>{text}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {isFirstConversation && <ConnectedServers query={tools} />}
      {isFirstConversation && user?.isAdmin && <NextSteps hasModel />}
    </div>
  );
}

const MAX_SHOWN = 6;

/** Servers of this user with their state. */
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

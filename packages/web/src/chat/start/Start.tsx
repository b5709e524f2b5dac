import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { conversationsQuery } from '../../api/chat.ts';
import { allToolsQuery } from '../../api/servers.ts';
import { useUser } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { useActions } from '../actions.ts';
import { ConnectedServers } from './ConnectedServers.tsx';
import { NextSteps } from './NextSteps.tsx';
import styles from './Start.module.css';
import { suggestTries } from './suggestTries.ts';

/** An empty conversation: what could be said. Who has none yet also sees what is there, and what to do next. */
export function Start() {
  const words = strings.chat.start;
  const { session, focusComposer } = useActions();
  const user = useUser();
  const isFirst = useInfiniteQuery(conversationsQuery).data?.pages[0]?.conversations.length === 0;
  const tools = useQuery(allToolsQuery);
  const tries = tools.data ? suggestTries(tools.data) : [];
  return (
    <div className={styles['start']}>
      <div>
        <h2 className={styles['title']}>{isFirst ? words.firstTitle : words.title}</h2>
        {isFirst && <p className={styles['lead']}>{words.firstLead}</p>}
      </div>
      {tries.length > 0 && (
        <section aria-label={words.try}>
          <ul className={styles['tries']}>
            {tries.map(({ server, tool, title, text }) => (
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
      {isFirst && <ConnectedServers query={tools} />}
      {isFirst && user?.isAdmin && <NextSteps hasModel />}
    </div>
  );
}

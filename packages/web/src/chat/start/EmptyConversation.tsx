import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { conversationsQuery } from '../../api/chat.ts';
import { allToolsQuery } from '../../api/servers.ts';
import { useUser } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { useConversationActions } from '../conversationActions.ts';
import { ConnectedServers } from './ConnectedServers.tsx';
import { NextSteps } from './NextSteps.tsx';
import styles from './Start.module.css';
import { suggestExamples } from './suggestExamples.ts';

/** An empty conversation: what could be said. Who has none yet also sees what is there, and what to do next. */
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

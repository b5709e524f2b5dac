import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { conversationsQuery } from '../../api/chat.ts';
import { allToolsQuery } from '../../api/servers.ts';
import { useUser } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { toolPath } from '../../tools/toolLinks.ts';
import { ToolConsole, type ToolRef } from '../../tools/ToolConsole.tsx';
import { Page } from '../../ui/Page.tsx';
import { AddModel, NextSteps } from './NextSteps.tsx';
import styles from './Start.module.css';
import { suggestExamples } from './suggestExamples.ts';

/** Chat page without a model: the tool console. */
export function ConsoleStart() {
  const { console: words, start } = strings.chat;
  const user = useUser();
  const tools = useQuery(allToolsQuery);
  const isFirstConversation = useInfiniteQuery(conversationsQuery).data?.pages[0]?.conversations.length === 0;
  const examples = tools.data ? suggestExamples(tools.data) : [];
  const [, navigate] = useLocation();
  const params = new URLSearchParams(useSearch());
  // The address contains the selection, so that reload and Back work.
  const selectTool = useCallback(
    (choice: ToolRef | undefined) => navigate(choice ? chatToolPath(choice) : '/chat'),
    [navigate],
  );
  return (
    <Page title={words.title} lead={words.lead} isWide>
      {user && <AddModel isOperator={user.isOperator} />}
      {examples.length > 0 && (
        <section className={styles['section']} aria-labelledby="try">
          <h2 id="try">{start.examplesTitle}</h2>
          <ul className={styles['tries']}>
            {examples.map((example) => (
              <li key={JSON.stringify([example.server, example.tool])}>
                <Link href={toolPath(example.server, example.tool, example.args)} className={styles['try']}>
                  <span className={styles['tryTitle']}>{example.title}</span>
                  <span className={styles['tryText']}>
                    {example.toolTitle} {start.onServer(example.serverTitle)}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
      <ToolConsole
        server={params.get('server') ?? undefined}
        tool={params.get('tool') ?? undefined}
        onSelect={selectTool}
      />
      {isFirstConversation && user?.isAdmin && <NextSteps hasModel={false} />}
    </Page>
  );
}

function chatToolPath({ server, tool }: ToolRef): string {
  return `/chat?${new URLSearchParams({ server, tool }).toString()}`;
}

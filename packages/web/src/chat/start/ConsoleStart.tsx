import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { conversationsQuery } from '../../api/chat.ts';
import { allToolsQuery } from '../../api/servers.ts';
import { useUser } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { toolAddress } from '../../tools/toolAddress.ts';
import { ToolConsole, type ToolChoice } from '../../tools/ToolConsole.tsx';
import { Page } from '../../ui/Page.tsx';
import { AddModel } from './AddModel.tsx';
import { NextSteps } from './NextSteps.tsx';
import styles from './Start.module.css';
import { suggestTries } from './suggestTries.ts';

/** The page of the chat where no model is configured: the first tool call, by hand. */
export function ConsoleStart() {
  const { console: words, start } = strings.chat;
  const user = useUser();
  const tools = useQuery(allToolsQuery);
  const isFirst = useInfiniteQuery(conversationsQuery).data?.pages[0]?.conversations.length === 0;
  const tries = tools.data ? suggestTries(tools.data) : [];
  const [, navigate] = useLocation();
  const params = new URLSearchParams(useSearch());
  // In the address, so that it is there after a reload, and Back leads to the one before.
  const choose = useCallback(
    (choice: ToolChoice | undefined) => navigate(choice ? chosenAddress(choice) : '/chat'),
    [navigate],
  );
  return (
    <Page title={words.title} lead={words.lead} isWide>
      {user && <AddModel isOperator={user.isOperator} />}
      {tries.length > 0 && (
        <section className={styles['section']} aria-labelledby="try">
          <h2 id="try">{start.try}</h2>
          <ul className={styles['tries']}>
            {tries.map((one) => (
              <li key={JSON.stringify([one.server, one.tool])}>
                <Link href={toolAddress(one.server, one.tool, one.args)} className={styles['try']}>
                  <span className={styles['tryTitle']}>{one.title}</span>
                  <span className={styles['tryText']}>
                    {one.toolTitle} {start.of(one.serverTitle)}
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
        onSelect={choose}
      />
      {isFirst && user?.isAdmin && <NextSteps hasModel={false} />}
    </Page>
  );
}

function chosenAddress({ server, tool }: ToolChoice): string {
  return `/chat?${new URLSearchParams({ server, tool }).toString()}`;
}

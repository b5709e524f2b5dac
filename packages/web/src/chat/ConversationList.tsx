import type { ConversationSummary } from '@behalf/contracts';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useLocation } from 'wouter';
import { conversationsQuery, modelsQuery } from '../api/chat.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import styles from './ConversationList.module.css';
import { ConversationLink } from './list/ConversationLink.tsx';
import { listed } from './list/conversationPages.ts';
import { byDay } from './list/dayGroup.ts';

const RenameDialog = lazy(() => import('./list/RenameDialog.tsx').then((m) => ({ default: m.RenameDialog })));
const DeleteDialog = lazy(() => import('./list/DeleteDialog.tsx').then((m) => ({ default: m.DeleteDialog })));

interface Asked {
  readonly about: ConversationSummary;
  readonly what: 'rename' | 'delete';
}

/** What was talked about, the newest first. */
export function ConversationList() {
  const words = strings.chat.list;
  const query = useInfiniteQuery(conversationsQuery);
  const models = useQuery(modelsQuery);
  const [path] = useLocation();
  const [asked, setAsked] = useState<Asked | null>(null);
  // By which days they are gathered: as of when this was first shown.
  const [now] = useState(() => Date.now());
  const heading = useRef<HTMLHeadingElement>(null);
  const conversations = listed(query.data);
  const close = () => setAsked(null);
  // Without a model there is nothing to talk with; what was said before can still be read.
  if (conversations.length === 0 && models.data?.endpoints.length === 0) return null;
  return (
    <section className={styles['list']} aria-labelledby="conversations">
      <h2 id="conversations" ref={heading} tabIndex={-1} className={styles['heading']}>
        {words.title}
      </h2>
      {query.isPending && <Skeleton lines={5} />}
      {query.error && !query.data && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && conversations.length === 0 && <p className={styles['empty']}>{words.empty}</p>}
      {byDay(conversations, now).map(({ group, entries }) => (
        <div key={group}>
          <h3 className={styles['day']}>{words.groups[group]}</h3>
          <ul>
            {entries.map((about) => (
              <ConversationLink
                key={about.id}
                conversation={about}
                isHere={path === `/chat/${encodeURIComponent(about.id)}`}
                onRename={() => setAsked({ about, what: 'rename' })}
                onDelete={() => setAsked({ about, what: 'delete' })}
              />
            ))}
          </ul>
        </div>
      ))}
      {query.hasNextPage && (
        <Button
          size="small"
          variant="quiet"
          isBusy={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {words.more}
        </Button>
      )}
      <Suspense>
        {asked?.what === 'rename' && <RenameDialog conversation={asked.about} onClose={close} />}
        {asked?.what === 'delete' && (
          <DeleteDialog
            conversation={asked.about}
            onClose={close}
            onDeleted={() => {
              // What was pressed is gone with its conversation, and the dialog would give the focus back to it.
              flushSync(close);
              heading.current?.focus();
            }}
          />
        )}
      </Suspense>
    </section>
  );
}

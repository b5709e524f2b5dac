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
import { flattenPages, groupByDay } from './list/conversationPages.ts';

const RenameConversationDialog = lazy(() =>
  import('./list/ConversationDialogs.tsx').then((m) => ({ default: m.RenameConversationDialog })),
);
const DeleteConversationDialog = lazy(() =>
  import('./list/ConversationDialogs.tsx').then((m) => ({ default: m.DeleteConversationDialog })),
);

interface OpenDialog {
  readonly conversation: ConversationSummary;
  readonly action: 'rename' | 'delete';
}

/** List of conversations, newest first. */
export function ConversationList() {
  const words = strings.chat.list;
  const query = useInfiniteQuery(conversationsQuery);
  const models = useQuery(modelsQuery);
  const [path] = useLocation();
  const [openDialog, setOpenDialog] = useState<OpenDialog | null>(null);
  // Fixed at the first render, so that the day groups do not change.
  const [now] = useState(() => Date.now());
  const headingRef = useRef<HTMLHeadingElement>(null);
  const conversations = flattenPages(query.data);
  const closeDialog = () => setOpenDialog(null);
  // Without a model the list is shown only if there are old conversations to read.
  if (conversations.length === 0 && models.data?.endpoints.length === 0) return null;
  return (
    <section className={styles['list']} aria-labelledby="conversations">
      <h2 id="conversations" ref={headingRef} tabIndex={-1} className={styles['heading']}>
        {words.title}
      </h2>
      {query.isPending && <Skeleton lines={5} />}
      {query.error && !query.data && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && conversations.length === 0 && <p className={styles['empty']}>{words.empty}</p>}
      {groupByDay(conversations, now).map(({ group, entries }) => (
        <div key={group}>
          <h3 className={styles['day']}>{words.groups[group]}</h3>
          <ul>
            {entries.map((conversation) => (
              <ConversationLink
                key={conversation.id}
                conversation={conversation}
                isCurrent={path === `/chat/${encodeURIComponent(conversation.id)}`}
                onRename={() => setOpenDialog({ conversation, action: 'rename' })}
                onDelete={() => setOpenDialog({ conversation, action: 'delete' })}
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
        {openDialog?.action === 'rename' && (
          <RenameConversationDialog conversation={openDialog.conversation} onClose={closeDialog} />
        )}
        {openDialog?.action === 'delete' && (
          <DeleteConversationDialog
            conversation={openDialog.conversation}
            onClose={closeDialog}
            onDeleted={() => {
              // The pressed button disappears with its conversation. Close the dialog first,
              // because it would return the focus to that button.
              flushSync(closeDialog);
              headingRef.current?.focus();
            }}
          />
        )}
      </Suspense>
    </section>
  );
}

import type { ModelsView } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { ApiError } from '../api/request.ts';
import { conversationQuery, modelsQuery } from '../api/chat.ts';
import { useUser } from '../api/user.ts';
import { createStore, useStore } from '../app/store.ts';
import { strings } from '../strings/strings.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page, PageSkeleton } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { Conversation } from './Conversation.tsx';
import { forgetConversation, sessions } from './session/pageSessions.ts';
import type { SessionState } from './session/session.ts';

const ConsoleStart = lazy(() =>
  import('./start/ConsoleStart.tsx').then((m) => ({ default: m.ConsoleStart })),
);

/** The chat; where no model is configured, the tools by hand. */
export function ChatPage({ id }: { readonly id: string | undefined }) {
  const words = strings.chat;
  const user = useUser();
  const models = useQuery(modelsQuery);
  const areViewsLoaded = usePreloadedViews(id !== undefined);
  if (user && !user.permissions.MCP_SERVERS.USE)
    return (
      <Page title={words.title}>
        <EmptyState icon="shield" title={words.notAllowedTitle}>
          {words.notAllowedText}
        </EmptyState>
      </Page>
    );
  if (models.error && !models.data)
    return (
      <Page title={words.title}>
        <ErrorNotice error={models.error} onRetry={() => void models.refetch()} />
      </Page>
    );
  if (id === undefined && models.data?.endpoints.length === 0)
    return (
      <Suspense fallback={<PageSkeleton lines={8} />}>
        <ConsoleStart />
      </Suspense>
    );
  return <ConversationRoom id={id} models={models.data} areViewsLoaded={areViewsLoaded} />;
}

const idleState = createStore<SessionState>({ answering: 'no' });
const noConversationId = createStore<string | undefined>(undefined);

/**
 * One conversation, with an address or without. It gets one with its first answer, and goes on under it as it is: what
 * is on the screen belongs to the session, not to the address.
 */
function ConversationRoom({
  id,
  models,
  areViewsLoaded,
}: {
  readonly id: string | undefined;
  readonly models: ModelsView | undefined;
  /** Whether kept answers can be shown as they will stay. */
  readonly areViewsLoaded: boolean;
}) {
  const [, navigate] = useLocation();
  // The same until the address changes: it has begun before it has an address.
  const newSession = useMemo(() => (id === undefined ? sessions.openNew() : undefined), [id]);
  const openSession = id === undefined ? newSession : sessions.get(id);
  const { answering: writing } = useStore(openSession?.state ?? idleState);
  const query = useQuery({
    ...conversationQuery(id ?? ''),
    enabled: id !== undefined && writing !== 'local',
  });
  const session = openSession ?? (areViewsLoaded && query.data ? sessions.open(query.data) : undefined);
  const startedId = useStore(newSession?.id ?? noConversationId);
  useEffect(() => {
    if (startedId !== undefined) navigate(`/chat/${encodeURIComponent(startedId)}`, { replace: true });
  }, [startedId, navigate]);
  useEffect(() => {
    if (query.data) session?.applyView(query.data);
  }, [session, query.data]);
  const isNotFound = query.error instanceof ApiError && query.error.status === 404;
  useEffect(() => {
    if (isNotFound && id !== undefined) forgetConversation(id);
  }, [isNotFound, id]);
  if (isNotFound) return <ConversationNotFound />;
  if (session) return <Conversation key={session.key} session={session} models={models} />;
  return (
    <Page title={strings.chat.title}>
      {query.error ? (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}

function ConversationNotFound() {
  const words = strings.chat;
  return (
    <Page title={words.notFoundTitle}>
      <EmptyState
        icon="chat"
        title={words.notFoundText}
        actions={<Link href="/chat">{words.newChat}</Link>}
      />
    </Page>
  );
}

/**
 * Loads what an answer is shown with: at once where there are some, else while nobody waits for anything. True once it is
 * there, or cannot be had: answers that were shown before it would be as high as their source, and then move.
 */
function usePreloadedViews(isExisting: boolean): boolean {
  const [areViewsLoaded, setViewsLoaded] = useState(false);
  useEffect(() => {
    const load = () =>
      void Promise.allSettled([import('./markdown/MarkdownBlock.tsx'), import('./call/CallCard.tsx')]).then(
        () => setViewsLoaded(true),
      );
    if (isExisting) load();
    else if ('requestIdleCallback' in window) requestIdleCallback(load);
    else setTimeout(load);
  }, [isExisting]);
  return areViewsLoaded;
}

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

/** Chat page. If no model is configured, it shows the tool console instead. */
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
 * One conversation. A new conversation gets its address when its first answer starts. The screen
 * belongs to the session, so it does not change with the address.
 */
function ConversationRoom({
  id,
  models,
  areViewsLoaded,
}: {
  readonly id: string | undefined;
  readonly models: ModelsView | undefined;
  /** Whether stored answers can be rendered in their final form. */
  readonly areViewsLoaded: boolean;
}) {
  const [, navigate] = useLocation();
  // The same session until the address changes, because a conversation starts without an address.
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
 * Preloads the components of an answer: immediately for an existing conversation, otherwise when
 * the browser is idle. Returns true when they are loaded or have failed. Answers rendered earlier
 * would show their source text and change their height later.
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

import type { ModelsView } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useMemo, useRef } from 'react';
import { ApiError } from '../api/request.ts';
import { conversationQuery, modelsQuery } from '../api/chat.ts';
import { useStore } from '../app/store.ts';
import { useTitle } from '../ui/Page.tsx';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { showError } from '../ui/Toasts.tsx';
import { ConversationActionsProvider, type ConversationActions } from './conversationActions.ts';
import { currentAnswerOptions } from './composer/answerOptions.ts';
import { Composer } from './composer/Composer.tsx';
import styles from './Conversation.module.css';
import { MessageList } from './message/MessageList.tsx';
import { useFollowEnd } from './useFollowEnd.ts';
import type { Session } from './session/session.ts';
import { FailureNotice } from './errors/FailureNotice.tsx';

const EmptyConversation = lazy(() =>
  import('./start/EmptyConversation.tsx').then((m) => ({ default: m.EmptyConversation })),
);

/** Messages of a conversation and the composer. */
export function Conversation({
  session,
  models,
}: {
  readonly session: Session;
  /** Undefined while loading. */
  readonly models: ModelsView | undefined;
}) {
  const words = strings.chat;
  const messages = useStore(session.messages);
  const { answering, failure } = useStore(session.state);
  const title = useStore(session.title);
  const inputRef = useRef<HTMLTextAreaElement>(null);
  const isEmpty = messages.length === 0 && !failure;
  const { scrollerRef, contentRef, isFollowing, scrollToEnd } = useFollowEnd(!isEmpty);
  const actions = useSessionActions(session, scrollToEnd, () => inputRef.current?.focus());
  useTitle(title || words.title);
  useStopOnEscape(answering !== 'no', actions.stop);
  const canWrite = models === undefined || models.endpoints.length > 0;
  return (
    <ConversationActionsProvider value={actions}>
      <div className={styles['room']}>
        <h1 className="visually-hidden">{title || words.title}</h1>
        <div
          ref={scrollerRef}
          className={styles['scroller']}
          tabIndex={0}
          role="region"
          aria-label={words.conversation}
        >
          <div ref={contentRef} className={styles['content']}>
            {isEmpty ? (
              <Suspense fallback={<Skeleton lines={8} />}>
                <EmptyConversation />
              </Suspense>
            ) : (
              <MessageList messages={messages} />
            )}
            {failure && <FailureNotice failure={failure} />}
            {answering === 'remote' && (
              <Notice title={words.remoteAnswerTitle}>{words.remoteAnswerText}</Notice>
            )}
          </div>
        </div>
        <div className={styles['bottom']}>
          {!isFollowing && (
            <Button
              className={styles['jump']}
              size="small"
              icon={<Icon name="down" size={16} />}
              onClick={() => {
                // The button disappears, so the focus moves.
                scrollToEnd();
                actions.focusComposer();
              }}
            >
              {words.jumpToLatest}
            </Button>
          )}
          {canWrite ? (
            <Composer {...{ session, models, inputRef }} onSend={actions.send} onStop={actions.stop} />
          ) : (
            <Notice title={words.composer.noModel} />
          )}
        </div>
        <Announcements session={session} />
      </div>
    </ConversationActionsProvider>
  );
}

/** Announces finished answers to screen readers, but not each chunk of text. */
function Announcements({ session }: { readonly session: Session }) {
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {useStore(session.announcement)}
    </div>
  );
}

function useSessionActions(
  session: Session,
  scrollToEnd: () => void,
  focusComposer: () => void,
): ConversationActions {
  const queryClient = useQueryClient();
  const { mutate: send } = useMutation({
    mutationFn: (text: string) => session.send(text, currentAnswerOptions),
    onError(error) {
      const id = session.id.get();
      if (id !== undefined) void queryClient.invalidateQueries({ queryKey: conversationQuery(id).queryKey });
      // The available models may have changed since the page was loaded.
      if (error instanceof ApiError && error.code.startsWith('MODEL_'))
        void queryClient.invalidateQueries({ queryKey: modelsQuery.queryKey });
    },
  });
  const { mutate: stop } = useMutation({ mutationFn: () => session.stop(), onError: showError });
  const focusRef = useRef(focusComposer);
  return useMemo(() => {
    const sendAndScroll = (text: string) => {
      send(text);
      scrollToEnd();
    };
    return {
      session,
      send: sendAndScroll,
      resend() {
        const lastUserMessage = session.messages.get().findLast(({ role }) => role === 'user');
        if (lastUserMessage?.role === 'user') sendAndScroll(lastUserMessage.text);
      },
      stop: () => stop(),
      focusComposer: () => focusRef.current(),
    };
  }, [session, send, stop, scrollToEnd]);
}

/** Stops the answer on Escape, unless the key belongs to a dialog or the navigation. */
function useStopOnEscape(isActive: boolean, stop: () => void): void {
  useEffect(() => {
    if (!isActive) return undefined;
    const handleKeyDown = (event: KeyboardEvent) => {
      const isOtherTarget =
        event.target instanceof Element && event.target.closest('dialog, nav, [role="dialog"]');
      if (event.key === 'Escape' && !event.defaultPrevented && !isOtherTarget) stop();
    };
    addEventListener('keydown', handleKeyDown);
    return () => removeEventListener('keydown', handleKeyDown);
  }, [isActive, stop]);
}

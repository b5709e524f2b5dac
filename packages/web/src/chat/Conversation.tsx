import type { ModelsView } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useMemo, useRef } from 'react';
import { ApiError } from '../api/apiError.ts';
import { conversationQuery, modelsQuery } from '../api/chat.ts';
import { useStore } from '../app/store.ts';
import { useTitle } from '../hooks/useTitle.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { showError } from '../ui/toasts.ts';
import { ActionsProvider, type Actions } from './actions.ts';
import { currentChoice } from './composer/choices.ts';
import { Composer } from './composer/Composer.tsx';
import styles from './Conversation.module.css';
import { MessageList } from './message/MessageList.tsx';
import { useFollowEnd } from './scroll/useFollowEnd.ts';
import type { Session } from './session/session.ts';
import { FailureNotice } from './trouble/FailureNotice.tsx';

const Start = lazy(() => import('./start/Start.tsx').then((m) => ({ default: m.Start })));

/** A conversation: what was said, and where one goes on. */
export function Conversation({
  session,
  models,
}: {
  readonly session: Session;
  /** Undefined until they are known. */
  readonly models: ModelsView | undefined;
}) {
  const words = strings.chat;
  const messages = useStore(session.messages);
  const { writing, failure } = useStore(session.state);
  const title = useStore(session.title);
  const field = useRef<HTMLTextAreaElement>(null);
  const isEmpty = messages.length === 0 && !failure;
  const { scroller, content, isFollowing, follow } = useFollowEnd(!isEmpty);
  const actions = useSessionActions(session, follow, () => field.current?.focus());
  useTitle(title || words.title);
  useEscape(writing !== 'no', actions.stop);
  const mayWrite = models === undefined || models.endpoints.length > 0;
  return (
    <ActionsProvider value={actions}>
      <div className={styles['room']}>
        <h1 className="visually-hidden">{title || words.title}</h1>
        <div
          ref={scroller}
          className={styles['scroller']}
          tabIndex={0}
          role="region"
          aria-label={words.conversation}
        >
          <div ref={content} className={styles['content']}>
            {isEmpty ? (
              <Suspense fallback={<Skeleton lines={8} />}>
                <Start />
              </Suspense>
            ) : (
              <MessageList messages={messages} />
            )}
            {failure && <FailureNotice failure={failure} />}
            {writing === 'elsewhere' && <Notice title={words.elsewhereTitle}>{words.elsewhereText}</Notice>}
          </div>
        </div>
        <div className={styles['bottom']}>
          {!isFollowing && (
            <Button
              className={styles['jump']}
              size="small"
              icon={<Icon name="down" size={16} />}
              onClick={() => {
                // It is gone once it was pressed.
                follow();
                actions.focusComposer();
              }}
            >
              {words.jump}
            </Button>
          )}
          {mayWrite ? (
            <Composer {...{ session, models, field }} onSend={actions.send} onStop={actions.stop} />
          ) : (
            <Notice title={words.composer.noModel} />
          )}
        </div>
        <Announcements session={session} />
      </div>
    </ActionsProvider>
  );
}

/** For screen readers: that an answer is there, and not each of its words as it comes. */
function Announcements({ session }: { readonly session: Session }) {
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {useStore(session.announcement)}
    </div>
  );
}

function useSessionActions(session: Session, follow: () => void, focusComposer: () => void): Actions {
  const client = useQueryClient();
  const { mutate: send } = useMutation({
    mutationFn: (text: string) => session.send(text, currentChoice),
    onError(error) {
      const id = session.id.get();
      if (id !== undefined) void client.invalidateQueries({ queryKey: conversationQuery(id).queryKey });
      // What was offered when the page was loaded may have changed.
      if (error instanceof ApiError && error.code.startsWith('MODEL_'))
        void client.invalidateQueries({ queryKey: modelsQuery.queryKey });
    },
  });
  const { mutate: stop } = useMutation({ mutationFn: () => session.stop(), onError: showError });
  const focus = useRef(focusComposer);
  return useMemo(() => {
    const say = (text: string) => {
      send(text);
      follow();
    };
    return {
      session,
      send: say,
      sendAgain() {
        const last = session.messages.get().findLast(({ role }) => role === 'user');
        if (last?.role === 'user') say(last.text);
      },
      stop: () => stop(),
      focusComposer: () => focus.current(),
    };
  }, [session, send, stop, follow]);
}

/** Stops an answer, unless the key was meant for something that is open above it. */
function useEscape(isActive: boolean, stop: () => void): void {
  useEffect(() => {
    if (!isActive) return undefined;
    const onKey = (event: KeyboardEvent) => {
      const isElsewhere =
        event.target instanceof Element && event.target.closest('dialog, nav, [role="dialog"]');
      if (event.key === 'Escape' && !event.defaultPrevented && !isElsewhere) stop();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [isActive, stop]);
}

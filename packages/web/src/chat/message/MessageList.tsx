import { memo, useDeferredValue, useState } from 'react';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import type { MessageState } from '../session/messages.ts';
import { AnswerMessage, UserMessage } from './Message.tsx';
import styles from './MessageList.module.css';

/** Messages per page, and messages in the first render. The rest follows in a deferred render. */
const PAGE_SIZE = 40;
const INITIAL_COUNT = 4;

export const MessageList = memo(function MessageList({
  messages,
}: {
  readonly messages: readonly MessageState[];
}) {
  const { length } = messages;
  const [firstShown, setFirstShown] = useState(Math.max(0, length - PAGE_SIZE));
  const renderedFrom = useDeferredValue(firstShown, Math.max(firstShown, length - INITIAL_COUNT));
  const earlierCount = Math.min(PAGE_SIZE, firstShown);
  return (
    <>
      {earlierCount > 0 && renderedFrom === firstShown && (
        <div className={styles['earlier']}>
          <Button size="small" onClick={() => setFirstShown(firstShown - earlierCount)}>
            {strings.chat.showEarlier(earlierCount)}
          </Button>
        </div>
      )}
      <ol className={styles['messages']}>
        {messages
          .slice(renderedFrom)
          .map((message, index) =>
            message.role === 'user' ? (
              <UserMessage key={message.id} message={message} />
            ) : (
              <AnswerMessage key={message.id} answer={message} isLast={renderedFrom + index === length - 1} />
            ),
          )}
      </ol>
    </>
  );
});

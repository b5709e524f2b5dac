import { memo, useDeferredValue, useState } from 'react';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import type { MessageState } from '../session/messages.ts';
import { Answer } from './Answer.tsx';
import styles from './MessageList.module.css';
import { Question } from './Question.tsx';

/** How many are shown of a long conversation, and how many of these at once; the others follow in small steps. */
const SHOWN = 40;
const AT_ONCE = 4;

/** What was said, the latest last. */
export const MessageList = memo(function MessageList({
  messages,
}: {
  readonly messages: readonly MessageState[];
}) {
  const { length } = messages;
  const [first, setFirst] = useState(Math.max(0, length - SHOWN));
  const from = useDeferredValue(first, Math.max(first, length - AT_ONCE));
  const earlier = Math.min(SHOWN, first);
  return (
    <>
      {earlier > 0 && from === first && (
        <div className={styles['earlier']}>
          <Button size="small" onClick={() => setFirst(first - earlier)}>
            {strings.chat.earlier(earlier)}
          </Button>
        </div>
      )}
      <ol className={styles['messages']}>
        {messages
          .slice(from)
          .map((message, index) =>
            message.role === 'user' ? (
              <Question key={message.id} question={message} />
            ) : (
              <Answer key={message.id} answer={message} isLast={from + index === length - 1} />
            ),
          )}
      </ol>
    </>
  );
});

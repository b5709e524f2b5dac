import { memo } from 'react';
import { strings } from '../../strings/strings.ts';
import type { UserMessageState } from '../session/messages.ts';
import { countRender } from './countRender.ts';
import styles from './Message.module.css';
import { PlainText } from './PlainText.tsx';

/** What the user said, as it was typed. */
export const UserMessage = memo(function UserMessage({ message }: { readonly message: UserMessageState }) {
  countRender(message.id, 'question');
  return (
    <li className={styles['question']}>
      <h2 className="visually-hidden">{strings.chat.message.userHeading}</h2>
      <div className={styles['bubble']}>
        <PlainText text={message.text} />
      </div>
    </li>
  );
});

import { memo } from 'react';
import { strings } from '../../strings/strings.ts';
import type { QuestionState } from '../session/messages.ts';
import { countRender } from './countRender.ts';
import styles from './Message.module.css';
import { PlainText } from './PlainText.tsx';

/** What the user said, as it was typed. */
export const Question = memo(function Question({ question }: { readonly question: QuestionState }) {
  countRender(question.id, 'question');
  return (
    <li className={styles['question']}>
      <h2 className="visually-hidden">{strings.chat.message.you}</h2>
      <div className={styles['bubble']}>
        <PlainText text={question.text} />
      </div>
    </li>
  );
});

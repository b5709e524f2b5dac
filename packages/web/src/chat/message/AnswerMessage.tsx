import { memo } from 'react';
import { useStore } from '../../app/store.ts';
import { formatDateTime } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { Spinner } from '../../ui/Spinner.tsx';
import { CallGroup } from '../call/CallGroup.tsx';
import { answerText, type AnswerState } from '../session/messages.ts';
import { AnswerEnd } from './AnswerEnd.tsx';
import { countRender } from './countRender.ts';
import { groupParts } from './groupParts.ts';
import styles from './Message.module.css';
import { TextPart } from './TextPart.tsx';

/** What the model said and did. Rendered when a part is added or the answer ends, and not for pieces of text. */
export const AnswerMessage = memo(function AnswerMessage({
  answer,
  isLast,
}: {
  readonly answer: AnswerState;
  readonly isLast: boolean;
}) {
  const words = strings.chat.message;
  countRender(answer.id, 'answer');
  const parts = useStore(answer.parts);
  const status = useStore(answer.status);
  const { isRunning, model, at } = status;
  return (
    <li className={styles['answer']} aria-busy={isRunning}>
      <h2 className="visually-hidden">{model ? words.answerFrom(model) : words.answerHeading}</h2>
      {groupParts(parts).map((group) =>
        group.type === 'text' ? (
          <TextPart key={group.part.id} part={group.part} />
        ) : (
          <CallGroup key={group.parts[0]?.id} parts={group.parts} isLive={isRunning} isLast={isLast} />
        ),
      )}
      {isRunning ? (
        <p className={styles['working']}>
          <Spinner /> {words.working}
        </p>
      ) : (
        <>
          <AnswerEnd status={status} isEmpty={parts.length === 0} isLast={isLast} />
          <footer className={styles['footer']}>
            {parts.some(({ type }) => type === 'text') && (
              <CopyButton text={() => answerText(answer)} label={words.copy} />
            )}
            <span title={formatDateTime(at)}>{model}</span>
          </footer>
        </>
      )}
    </li>
  );
});

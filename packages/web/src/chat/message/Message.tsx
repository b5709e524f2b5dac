import { memo } from 'react';
import { useStore } from '../../app/store.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Spinner } from '../../ui/Spinner.tsx';
import { formatDateTime } from '../../ui/format.ts';
import { CallGroup } from '../call/CallGroup.tsx';
import { useConversationActions } from '../conversationActions.ts';
import { describeProblem } from '../errors/describeProblem.ts';
import {
  type AnswerState,
  type AnswerStatus,
  type CallPartState,
  type PartState,
  type TextPartState,
  type UserMessageState,
  answerText,
} from '../session/messages.ts';
import styles from './Message.module.css';
import { PlainText } from './PlainText.tsx';
import { TextPart } from './TextPart.tsx';
import { countRender } from './countRender.ts';

/** Message of the user as plain text. */
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

/** Answer of the model. Renders when a part is added or the answer ends, not for each chunk of text. */
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

type PartGroup =
  | { readonly type: 'text'; readonly part: TextPartState }
  | { readonly type: 'calls'; readonly parts: readonly CallPartState[] };

/** Groups consecutive calls, which ran in parallel. */
function groupParts(parts: readonly PartState[]): readonly PartGroup[] {
  const groups: PartGroup[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    if (part.type === 'text') groups.push({ type: 'text', part });
    else if (last?.type === 'calls') groups[groups.length - 1] = { ...last, parts: [...last.parts, part] };
    else groups.push({ type: 'calls', parts: [part] });
  }
  return groups;
}

/** Note about how the answer ended, if it did not end normally. */
function AnswerEnd({
  status: { finish, problem },
  isEmpty,
  isLast,
}: {
  readonly status: AnswerStatus;
  readonly isEmpty: boolean;
  readonly isLast: boolean;
}) {
  const { message: words, trouble } = strings.chat;
  const { session, resend } = useConversationActions();
  const { answering, failure } = useStore(session.state);
  const resendButton = isLast && answering === 'no' && !failure && (
    <Button size="small" onClick={resend}>
      {trouble.resend}
    </Button>
  );
  if (problem) {
    const { text, advice } = describeProblem(problem);
    return (
      <Notice isSilent tone="danger" title={problem.title} actions={resendButton}>
        <p>{text}</p>
        <p>{advice}</p>
      </Notice>
    );
  }
  if (finish === undefined) {
    // Another notice below the conversation shows this state.
    if (isLast && (failure?.kind === 'broken' || answering === 'remote')) return null;
    return (
      <Notice isSilent tone="warning" title={words.unfinishedTitle} actions={resendButton}>
        {words.unfinishedText}
      </Notice>
    );
  }
  const note = {
    stop: isEmpty ? words.emptyAnswer : '',
    stopped: words.stopped,
    length: words.lengthLimit,
    rounds: words.tooManyToolCalls,
    error: '',
  }[finish];
  if (note === '') return null;
  return (
    <div className={styles['note']}>
      <p>{note}</p>
      {finish === 'stopped' && resendButton}
    </div>
  );
}

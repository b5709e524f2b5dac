import { strings } from '../../strings/strings.ts';
import { useStore } from '../../app/store.ts';
import { Button } from '../../ui/Button.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { useConversationActions } from '../conversationActions.ts';
import type { AnswerStatus } from '../session/messages.ts';
import { describeProblem } from '../errors/describeProblem.ts';
import styles from './Message.module.css';

/** How an answer ended, where there is something to say about it. */
export function AnswerEnd({
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
    // Said below the conversation, with what is being done about it.
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

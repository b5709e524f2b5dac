import { strings } from '../../strings/strings.ts';
import { useStore } from '../../app/store.ts';
import { Button } from '../../ui/Button.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { useActions } from '../actions.ts';
import type { AnswerStatus } from '../session/messages.ts';
import { tellProblem } from '../trouble/tellProblem.ts';
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
  const { session, sendAgain } = useActions();
  const { writing, failure } = useStore(session.state);
  const again = isLast && writing === 'no' && !failure && (
    <Button size="small" onClick={sendAgain}>
      {trouble.again}
    </Button>
  );
  if (problem) {
    const { text, advice } = tellProblem(problem);
    return (
      <Notice isSilent tone="danger" title={problem.title} actions={again}>
        <p>{text}</p>
        <p>{advice}</p>
      </Notice>
    );
  }
  if (finish === undefined) {
    // Said below the conversation, with what is being done about it.
    if (isLast && (failure?.kind === 'broken' || writing === 'elsewhere')) return null;
    return (
      <Notice isSilent tone="warning" title={words.unfinishedTitle} actions={again}>
        {words.unfinishedText}
      </Notice>
    );
  }
  const note = {
    stop: isEmpty ? words.empty : '',
    stopped: words.stopped,
    length: words.cut,
    rounds: words.rounds,
    error: '',
  }[finish];
  if (note === '') return null;
  return (
    <div className={styles['note']}>
      <p>{note}</p>
      {finish === 'stopped' && again}
    </div>
  );
}

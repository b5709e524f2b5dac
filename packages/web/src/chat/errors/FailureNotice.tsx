import { ApiError } from '../../api/request.ts';
import { explainError } from '../../api/explain.ts';
import { useStore } from '../../app/store.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { useConversationActions } from '../conversationActions.ts';
import { PlainText } from '../message/PlainText.tsx';
import type { ChatFailure } from '../session/session.ts';
import message from '../message/Message.module.css';
import { describeProblem } from './describeProblem.ts';
import styles from './FailureNotice.module.css';

/** Notice about an unsent message or an interrupted answer, with advice. */
export function FailureNotice({ failure }: { readonly failure: ChatFailure }) {
  const { trouble } = strings.chat;
  const { session, send, stop, focusComposer } = useConversationActions();
  const { answering } = useStore(session.state);
  if (failure.kind === 'broken')
    return (
      <Notice tone="warning" title={trouble.brokenTitle}>
        {trouble.brokenText}
      </Notice>
    );
  const { text } = failure;

  function edit(): void {
    session.dismissFailure();
    session.draft.set(text);
    focusComposer();
  }

  const isBusy = failure.kind === 'refused' && errorCode(failure.error) === 'CHAT_BUSY';
  return (
    <div className={styles['failure']}>
      <div className={message['question']}>
        <div className={message['bubble']} data-unsent>
          <PlainText text={text} />
        </div>
        <p className={styles['unsent']}>{failure.kind === 'refused' ? trouble.notSent : trouble.stopped}</p>
      </div>
      <Notice
        tone={failure.kind === 'refused' ? 'danger' : 'neutral'}
        title={failure.kind === 'refused' ? explainError(failure.error).title : trouble.withdrawnTitle}
        actions={
          <>
            {answering === 'no' && (
              <Button size="small" onClick={() => send(text)}>
                {trouble.resend}
              </Button>
            )}
            <Button size="small" onClick={edit}>
              {trouble.editMessage}
            </Button>
            {isBusy && (
              <Button size="small" onClick={stop}>
                {trouble.stopOtherAnswer}
              </Button>
            )}
          </>
        }
      >
        {failure.kind === 'refused' ? <FailureReason error={failure.error} /> : trouble.withdrawnText}
      </Notice>
    </div>
  );
}

function FailureReason({ error }: { readonly error: unknown }) {
  if (!(error instanceof ApiError) || !error.problem) return <p>{explainError(error).text}</p>;
  const { text, advice } = describeProblem(error.problem);
  const { retryAfterMs } = error;
  return (
    <>
      <p>{text}</p>
      <p>{retryAfterMs === undefined ? advice : strings.errors.retryIn(Math.ceil(retryAfterMs / 1000))}</p>
    </>
  );
}

function errorCode(error: unknown): string | undefined {
  return error instanceof ApiError ? error.code : undefined;
}

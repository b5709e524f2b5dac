import type { ModelsView } from '@behalf/contracts';
import { MAX_CHAT_TEXT_LENGTH } from '@behalf/contracts/plain';
import { useEffect, useId, useLayoutEffect, type KeyboardEvent, type RefObject } from 'react';
import { useUser } from '../../api/user.ts';
import { useStore } from '../../app/store.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Icon } from '../../ui/Icon.tsx';
import type { Session } from '../session/session.ts';
import styles from './Composer.module.css';
import { ModelPicker, ServerChooser } from './Pickers.tsx';

/** Message field with the choice of the model and of the servers. */
export function Composer({
  session,
  models,
  inputRef,
  onSend,
  onStop,
}: {
  readonly session: Session;
  /** Undefined while loading. Sending is not possible before. */
  readonly models: ModelsView | undefined;
  readonly inputRef: RefObject<HTMLTextAreaElement | null>;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
}) {
  const words = strings.chat.composer;
  const errorId = useId();
  const hintId = useId();
  const user = useUser();
  const text = useStore(session.draft);
  const { answering, isStopping = false } = useStore(session.state);
  const isTooLong = text.length > MAX_CHAT_TEXT_LENGTH;
  const areModelsLoaded = models !== undefined;
  const canSend = areModelsLoaded && answering === 'no' && text.trim() !== '' && !isTooLong;

  useEffect(() => {
    // Focuses the field when the page opens, unless a dialog is open.
    if (areModelsLoaded && !document.querySelector('dialog[open]'))
      inputRef.current?.focus({ preventScroll: true });
  }, [areModelsLoaded, inputRef]);
  useAutoHeight(inputRef, text);

  function send(): void {
    if (!canSend) return;
    session.draft.set('');
    onSend(text.trim());
    inputRef.current?.focus();
  }

  function handleKeyDown(event: KeyboardEvent): void {
    // Enter also confirms a composition of an input method, for example in Japanese.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  }

  return (
    <form
      className={styles['composer']}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={inputRef}
        className={styles['field']}
        rows={1}
        value={text}
        disabled={!areModelsLoaded}
        placeholder={words.placeholder}
        aria-label={words.label}
        aria-invalid={isTooLong || undefined}
        aria-describedby={isTooLong ? errorId : hintId}
        onChange={({ target }) => session.draft.set(target.value)}
        onKeyDown={handleKeyDown}
      />
      <p id={hintId} className="visually-hidden">
        {words.hint}
      </p>
      {isTooLong && (
        <p id={errorId} role="alert" className={styles['error']}>
          {words.tooLong(MAX_CHAT_TEXT_LENGTH.toLocaleString())}
        </p>
      )}
      <div className={styles['bar']}>
        {models && user && <ModelPicker models={models} userId={user.id} />}
        {user && <ServerChooser userId={user.id} />}
        <span className={styles['space']} />
        {answering === 'no' ? (
          <Button type="submit" variant="primary" disabled={!canSend} icon={<Icon name="send" />}>
            {words.send}
          </Button>
        ) : (
          <Button isBusy={isStopping} icon={<Icon name="stop" />} onClick={onStop}>
            {isStopping ? words.stopping : words.stop}
          </Button>
        )}
      </div>
    </form>
  );
}

/** Fits the height to the text. Newer browsers do this with `field-sizing`. */
function useAutoHeight(inputRef: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => {
    if (inputRef.current && !CSS.supports('field-sizing', 'content')) fitHeight(inputRef.current);
  }, [inputRef, text]);
}

function fitHeight(element: HTMLTextAreaElement): void {
  element.style.blockSize = 'auto';
  element.style.blockSize = `${element.scrollHeight}px`;
}

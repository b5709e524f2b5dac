import { type ReactNode, type SubmitEvent, useEffect, useId, useRef } from 'react';
import { strings } from '../strings/strings.ts';
import { Button, IconButton } from './Button.tsx';
import styles from './Dialog.module.css';
import { Icon } from './Icon.tsx';
import { ErrorNotice } from './Notice.tsx';
import { classNames } from './classNames.ts';

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** The buttons, the most likely one last. */
  readonly actions?: ReactNode;
  readonly onClose: () => void;
  /** With it the dialog is a form, and Enter in a field sends it. */
  readonly onSubmit?: () => void;
  readonly isWide?: boolean;
}

/**
 * A question over the page. The element of the browser keeps the focus inside, makes the rest inert, closes with Escape
 * and gives the focus back to where it was.
 */
export function Dialog({ title, children, actions, onClose, onSubmit, isWide = false }: DialogProps) {
  const dialogRef = useRef<HTMLDialogElement>(null);
  const heading = useId();

  useEffect(() => {
    const element = dialogRef.current;
    const previousFocus = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      if (previousFocus instanceof HTMLElement) previousFocus.focus();
    };
  }, []);

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    onSubmit?.();
  }

  const body = (
    <>
      <div className={styles['content']}>{children}</div>
      {actions !== undefined && <div className={styles['actions']}>{actions}</div>}
    </>
  );
  return (
    <dialog
      ref={dialogRef}
      className={classNames(styles['dialog'], isWide && styles['wide'])}
      aria-labelledby={heading}
      onCancel={(event) => {
        // React decides what is open; the browser must not close it behind our back.
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.nativeEvent.isComposing) return;
        // Pressed twice in a row, the browser closes it whatever `cancel` was answered; a key that is taken does not.
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      <header className={styles['header']}>
        <h2 id={heading}>{title}</h2>
        <IconButton label={strings.common.close} icon={<Icon name="close" />} onClick={onClose} />
      </header>
      {onSubmit ? (
        <form className={styles['form']} onSubmit={submit} noValidate>
          {body}
        </form>
      ) : (
        <div className={styles['form']}>{body}</div>
      )}
    </dialog>
  );
}

/** Asked before something that cannot be undone. */
export function ConfirmDialog({
  title,
  children,
  confirm,
  isBusy = false,
  error,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly children: ReactNode;
  readonly confirm: string;
  readonly isBusy?: boolean;
  readonly error?: unknown;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={onConfirm}
      actions={
        <>
          <Button onClick={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" variant="danger" isBusy={isBusy}>
            {confirm}
          </Button>
        </>
      }
    >
      <p>{children}</p>
      {error != null && <ErrorNotice error={error} />}
    </Dialog>
  );
}

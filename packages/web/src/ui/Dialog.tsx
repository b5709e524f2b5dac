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
  /** The buttons; the default action is last. */
  readonly actions?: ReactNode;
  readonly onClose: () => void;
  /** Makes the dialog a form that the Enter key submits. */
  readonly onSubmit?: () => void;
  readonly isWide?: boolean;
}

/**
 * A modal dialog based on the `dialog` element, which keeps the focus inside, makes the page inert, closes with
 * Escape and restores the focus.
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
        // React controls whether the dialog is open; the browser must not close it itself.
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.nativeEvent.isComposing) return;
        // If Escape is pressed twice, the browser closes the dialog although `cancel` was prevented. Handling the
        // key prevents that.
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

/** Confirmation of an action that cannot be undone. */
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

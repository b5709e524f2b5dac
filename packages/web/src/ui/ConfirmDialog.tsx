import type { ReactNode } from 'react';
import { strings } from '../strings/strings.ts';
import { Button } from './Button.tsx';
import { Dialog } from './Dialog.tsx';
import { ErrorNotice } from './Notice.tsx';

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

import type { CreatedServerView } from '@behalf/contracts';
import { useEffect, useRef, useState } from 'react';
import { usePermission } from '../../api/user.ts';
import { useUnloadWarning } from '../../hooks/useUnloadWarning.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Notice } from '../../ui/Notice.tsx';
import type { InitialForm } from '../add/initialForm.ts';
import { AddressFields, DescriptionFields } from './AddressFields.tsx';
import { AuthFields } from './AuthFields.tsx';
import { DialogStatus } from './DialogStatus.tsx';
import { HeaderFields } from './HeaderFields.tsx';
import styles from './ServerDialog.module.css';
import { isLocked } from './serverForm.ts';
import { useServerDialog, type EditedServer } from './useServerDialog.ts';

/** Adds a server, or changes one. It offers what the gateway would accept, and shows at the fields what it refuses. */
export function ServerDialog({
  server,
  initial,
  canEdit,
  onClose,
  onSaved,
}: {
  readonly server?: EditedServer;
  /** What was found out about a new one. */
  readonly initial?: InitialForm;
  /** False once the right to do this was taken away. */
  readonly canEdit: boolean;
  readonly onClose: () => void;
  readonly onSaved: (view: CreatedServerView) => void;
}) {
  const words = strings.servers.form;
  const canConfigureObo = usePermission('CONFIGURE_OBO');
  const state = useServerDialog(server, initial, onSaved);
  const { form, before, problems, change, isSaving, isChecking } = state;
  const [isConfirmingClose, setConfirmingClose] = useState(false);
  const fieldsRef = useRef<HTMLDivElement>(null);
  const locked = isLocked(before, canConfigureObo);
  const sectionProps = { form, before, problems, change };

  useEffect(() => {
    // At first where one begins to type, and not at the button that closes the dialog.
    const selector = state.refusals === 0 ? 'input' : '[aria-invalid]';
    const field = fieldsRef.current?.querySelector<HTMLElement>(selector);
    field?.focus();
    // With room for what is said below it.
    field?.scrollIntoView({ block: 'center' });
  }, [state.refusals]);
  useUnloadWarning(state.isChanged);

  function close(): void {
    if (isSaving) return;
    if (state.isChanged) setConfirmingClose(true);
    else onClose();
  }

  return (
    <>
      <Dialog
        isWide
        title={server ? words.editTitle(server.view.title ?? server.name) : words.addTitle}
        onClose={close}
        onSubmit={() => canEdit && state.save()}
        actions={
          <>
            <DialogStatus state={state} />
            <Button onClick={close}>{strings.common.cancel}</Button>
            <Button isBusy={isChecking} disabled={isSaving || !canEdit} onClick={state.check}>
              {isChecking ? words.testing : words.test}
            </Button>
            <Button type="submit" variant="primary" isBusy={isSaving} disabled={isChecking || !canEdit}>
              {server ? words.save : words.add}
            </Button>
          </>
        }
      >
        <div ref={fieldsRef} className={styles['fields']}>
          {!canEdit && <Notice tone="warning" title={words.rightsLost} />}
          <DescriptionFields {...sectionProps} />
          {locked && (
            <Notice tone="neutral" title={words.lockedTitle}>
              {words.lockedText}
            </Notice>
          )}
          <fieldset disabled={locked} className={styles['fields']}>
            <AddressFields {...sectionProps} />
            <AuthFields {...sectionProps} canConfigureObo={canConfigureObo} isLocked={locked} />
            <HeaderFields {...sectionProps} />
          </fieldset>
        </div>
      </Dialog>
      {isConfirmingClose && (
        <ConfirmDialog
          title={words.unsavedTitle}
          confirm={words.unsavedDiscard}
          onConfirm={onClose}
          onClose={() => setConfirmingClose(false)}
        >
          {words.unsavedText}
        </ConfirmDialog>
      )}
    </>
  );
}

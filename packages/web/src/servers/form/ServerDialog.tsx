import type { CreatedServerView } from '@behalf/contracts';
import { useEffect, useRef, useState } from 'react';
import { usePermission } from '../../api/user.ts';
import { useUnloadWarning } from '../../hooks/useUnloadWarning.ts';
import { strings } from '../../strings/strings.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/Dialog.tsx';
import { SelectField, TextArea, TextField } from '../../ui/Field.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import type { InitialForm } from '../add/discoveryResult.ts';
import { AuthFields } from './AuthFields.tsx';
import styles from './ServerDialog.module.css';
import { rowPath } from './formProblems.ts';
import { type HeaderRow, type ServerTransport, isCompatible, isLocked, transports } from './serverForm.ts';
import {
  type EditedServer,
  type FormSectionProps,
  type ServerDialogState,
  useServerDialog,
} from './useServerDialog.ts';

/** Adds or edits a server. Shows validation errors of the gateway at the fields. */
export function ServerDialog({
  server,
  initial,
  canEdit,
  onClose,
  onSaved,
}: {
  readonly server?: EditedServer;
  /** The result of the discovery of a new server. */
  readonly initial?: InitialForm;
  /** False after the permission was revoked. */
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
    // The first input receives the focus instead of the close button.
    const selector = state.refusals === 0 ? 'input' : '[aria-invalid]';
    const field = fieldsRef.current?.querySelector<HTMLElement>(selector);
    field?.focus();
    // Leaves room for the error below the field.
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

/** Title and description. Every editor may change these. */
function DescriptionFields({ form, before, problems, change }: FormSectionProps) {
  const words = strings.servers.form;
  return (
    <>
      <TextField
        label={words.title}
        hint={before ? words.titleHintLater : words.titleHint}
        error={problems['title']}
        isRequired={!before}
        maxLength={100}
        value={form.title}
        onChange={({ target }) => change({ title: target.value }, 'title')}
      />
      <TextArea
        label={words.description}
        hint={words.descriptionHint}
        error={problems['description']}
        rows={2}
        maxLength={4096}
        value={form.description}
        onChange={({ target }) => change({ description: target.value }, 'description')}
      />
    </>
  );
}

/** URL and transport. */
function AddressFields({ form, problems, change }: FormSectionProps) {
  const words = strings.servers.form;
  return (
    <>
      <SelectField
        label={words.transport}
        error={problems['type']}
        value={form.type}
        onChange={({ target }) => change({ type: target.value as ServerTransport }, 'type', 'url', 'auth')}
      >
        {transports.map((type) => (
          <option key={type} value={type} disabled={!isCompatible(type, form.auth)}>
            {words.transports[type]}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.url}
        hint={form.type === 'websocket' ? words.urlHintWebsocket : words.urlHint}
        error={problems['url']}
        isRequired
        type="url"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        maxLength={2048}
        value={form.url}
        onChange={({ target }) => change({ url: target.value }, 'url')}
      />
    </>
  );
}

/** Headers of every call. Stored headers are not shown; they are kept or replaced as a whole. */
function HeaderFields({ form, before, problems, change }: FormSectionProps) {
  const words = strings.servers.form;
  const { headers, replacesHeaders } = form;
  const error = problems['headers'];

  function add(): void {
    const id = Math.max(0, ...headers.map((row) => row.id)) + 1;
    change({ headers: [...headers, { id, name: '', value: '' }] }, 'headers');
  }

  const pathsOf = ({ id, name }: HeaderRow) => [rowPath(id), `headers.${name.trim().toLowerCase()}`];
  const update = (row: HeaderRow, patch: Partial<HeaderRow>) =>
    change(
      { headers: headers.map((candidate) => (candidate.id === row.id ? { ...row, ...patch } : candidate)) },
      ...pathsOf(row),
    );

  return (
    <fieldset className={styles['headers']}>
      <legend className={styles['legend']}>{words.headers}</legend>
      <p className={styles['hint']}>{replacesHeaders ? words.headersHint : words.headersKeptHint}</p>
      {replacesHeaders &&
        headers.map((row) => (
          <div key={row.id} className={styles['row']}>
            <TextField
              label={words.headerName}
              error={pathsOf(row).flatMap((path) => problems[path] ?? [])[0]}
              autoComplete="off"
              spellCheck={false}
              value={row.name}
              onChange={({ target }) => update(row, { name: target.value })}
            />
            <TextField
              label={words.headerValue}
              type="password"
              autoComplete="new-password"
              spellCheck={false}
              maxLength={8192}
              value={row.value}
              onChange={({ target }) => update(row, { value: target.value })}
            />
            <IconButton
              label={words.headerRemove(row.name)}
              icon={<Icon name="trash" />}
              onClick={() => change({ headers: headers.filter(({ id }) => id !== row.id) }, ...pathsOf(row))}
            />
          </div>
        ))}
      {error !== undefined && (
        <p className={styles['error']} tabIndex={-1} aria-invalid>
          {error}
        </p>
      )}
      {before && replacesHeaders && headers.length === 0 && (
        <p className={styles['hint']}>{words.headersRemoved}</p>
      )}
      {replacesHeaders && (
        <Button size="small" className={styles['start']} icon={<Icon name="plus" size={16} />} onClick={add}>
          {words.headerAdd}
        </Button>
      )}
      {before && (
        <Button
          size="small"
          variant="quiet"
          className={styles['start']}
          onClick={() => change({ replacesHeaders: !replacesHeaders, headers: [] }, 'headers')}
        >
          {replacesHeaders ? words.headersKeep : words.headersReplace}
        </Button>
      )}
    </fieldset>
  );
}

/** The result of testing or saving, always visible. */
function DialogStatus({ state }: { readonly state: ServerDialogState }) {
  const content = statusContent(state);
  return content && <div className={styles['status']}>{content}</div>;
}

function statusContent(state: ServerDialogState) {
  const words = strings.servers.form;
  const { error, otherProblems, problems, checkResult, hasConflict } = state;
  if (state.reloadError !== null) return <ErrorNotice error={state.reloadError} onRetry={state.reload} />;
  if (hasConflict) {
    return (
      <Notice
        tone="warning"
        title={words.conflictTitle}
        actions={
          <Button size="small" isBusy={state.isReloading} onClick={state.reload}>
            {words.conflictReload}
          </Button>
        }
      >
        {words.conflictText}
      </Notice>
    );
  }
  if (otherProblems.length > 0 || Object.keys(problems).length > 0) {
    const hasFields = Object.keys(problems).length > 0;
    return (
      <Notice tone="danger" title={hasFields ? words.invalidFieldsTitle : words.invalidTitle}>
        {otherProblems.length > 0 && (
          <ul>
            {otherProblems.map((other) => (
              <li key={other}>{other}</li>
            ))}
          </ul>
        )}
      </Notice>
    );
  }
  if (error !== null) return <ErrorNotice error={error} />;
  if (!checkResult) return null;
  return checkResult.inspected ? (
    <Notice tone="success" title={words.connected}>
      {words.toolsFound(checkResult.tools ?? 0)}
    </Notice>
  ) : (
    <Notice tone="info" title={words.notInspected}>
      {words.notInspectedText}
    </Notice>
  );
}

import type { BlockInputs, BlockView } from '@behalf/contracts';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode, type SubmitEvent } from 'react';
import { ApiError } from '../../api/apiError.ts';
import { fieldErrorText } from '../../api/fieldErrors.ts';
import { useUnloadWarning } from '../../hooks/useUnloadWarning.ts';
import type { JsonRecord } from '../../result/isRecord.ts';
import { focusFirstInvalid } from '../../schemaForm/focusFirstControl.ts';
import type { AssignedErrors } from '../../schemaForm/assignErrors.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { TextArea, TextField } from '../../ui/Field.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import styles from './BlockEditor.module.css';
import { createInputsDraft, assignInputErrors, parseInputs } from './inputsDraft.ts';
import { InputsForm } from './InputsForm.tsx';

export interface BlockTexts {
  readonly title: string;
  readonly description: string;
}

export interface BlockEdits extends BlockTexts {
  /** Undefined: they stay as they are. */
  readonly inputs: BlockInputs | undefined;
}

interface BlockEditorProps {
  readonly texts: BlockTexts;
  readonly onTextsChange: (texts: BlockTexts) => void;
  /** What stands for an empty title; undefined: a title is needed. */
  readonly placeholder?: string;
  /** Undefined: the tool cannot be asked, and its inputs stay. */
  readonly schema: JsonRecord | undefined;
  readonly inputs: BlockInputs;
  readonly isChanged: boolean;
  readonly label: string;
  readonly save: (edits: BlockEdits) => Promise<BlockView>;
  readonly onSaved: (block: BlockView) => Promise<void>;
  readonly onCancel: () => void;
  /** Instead of the inputs, where the tool cannot be asked. */
  readonly children?: ReactNode;
  /** What to do about a block that somebody else has changed. */
  readonly onReload?: () => void;
}

const NO_ERRORS: AssignedErrors = { byField: new Map(), otherErrors: [] };

/** Title, description and inputs of a block. What the gateway refuses stands at its field. */
export function BlockEditor(props: BlockEditorProps) {
  const { texts, onTextsChange, placeholder, schema, inputs, label, onSaved, onCancel } = props;
  const words = strings.blocks.form;
  const [initialDraft] = useState(() => (schema ? createInputsDraft(schema, inputs) : undefined));
  const [draft, setDraft] = useState(initialDraft);
  const [inputErrors, setInputErrors] = useState(NO_ERRORS);
  const [isConfirmingLeave, setConfirmingLeave] = useState(false);
  const [failedAttempts, setFailedAttempts] = useState(0);
  const formRef = useRef<HTMLFormElement>(null);
  const saveMutation = useMutation({
    mutationFn: props.save,
    onSuccess: onSaved,
    onError: (error) => {
      if (error instanceof ApiError && draft) {
        const fieldErrors = assignInputErrors(
          draft,
          error.errors.filter(({ path }) => path.startsWith('inputs')),
        );
        setInputErrors(fieldErrors);
      }
      setFailedAttempts((count) => count + 1);
    },
  });
  const isChanged = (props.isChanged || draft !== initialDraft) && !saveMutation.isSuccess;
  const isTitleMissing = placeholder === undefined && texts.title.trim() === '';
  useUnloadWarning(isChanged);
  useEffect(() => {
    if (failedAttempts > 0) focusFirstInvalid(formRef.current);
  }, [failedAttempts]);

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const parsed = draft && parseInputs(draft);
    setInputErrors({ byField: parsed?.errors ?? NO_ERRORS.byField, otherErrors: [] });
    saveMutation.reset();
    if (isTitleMissing || (parsed && parsed.errors.size > 0)) setFailedAttempts((count) => count + 1);
    else saveMutation.mutate({ ...texts, inputs: parsed?.inputs });
  }

  const { error } = saveMutation;
  const titleError =
    isTitleMissing && failedAttempts > 0 ? words.titleMissing : fieldErrorText(error, 'title');
  return (
    <Card>
      <form ref={formRef} className={styles['form']} noValidate onSubmit={submit}>
        <TextField
          label={words.title}
          hint={placeholder === undefined ? undefined : words.titleHint}
          placeholder={placeholder}
          isRequired={placeholder === undefined}
          error={titleError}
          maxLength={200}
          value={texts.title}
          onChange={({ target }) => onTextsChange({ ...texts, title: target.value })}
        />
        <TextArea
          label={words.description}
          hint={words.descriptionHint}
          error={fieldErrorText(error, 'description')}
          rows={2}
          maxLength={4096}
          value={texts.description}
          onChange={({ target }) => onTextsChange({ ...texts, description: target.value })}
        />
        {draft ? (
          <section className={styles['inputs']} aria-label={words.inputs}>
            <h2>{words.inputs}</h2>
            <p className={styles['hint']}>{words.inputsHint}</p>
            <InputsForm draft={draft} errors={inputErrors.byField} onChange={setDraft} />
          </section>
        ) : (
          props.children
        )}
        <SaveError error={error} otherErrors={inputErrors.otherErrors} onReload={props.onReload} />
        <div className={styles['actions']}>
          <Button type="submit" variant="primary" isBusy={saveMutation.isPending}>
            {label}
          </Button>
          <Button onClick={() => (isChanged ? setConfirmingLeave(true) : onCancel())}>
            {strings.common.cancel}
          </Button>
        </div>
      </form>
      {isConfirmingLeave && (
        <ConfirmDialog
          title={words.unsavedTitle}
          confirm={words.unsavedDiscard}
          onConfirm={onCancel}
          onClose={() => setConfirmingLeave(false)}
        >
          {words.unsavedText}
        </ConfirmDialog>
      )}
    </Card>
  );
}

function SaveError({
  error,
  otherErrors,
  onReload,
}: {
  readonly error: unknown;
  readonly otherErrors: readonly string[];
  readonly onReload: (() => void) | undefined;
}) {
  const words = strings.blocks.form;
  const code = error instanceof ApiError ? error.code : undefined;
  if (error === null) return null;
  if (code === 'VERSION_CONFLICT' && onReload) {
    return (
      <Notice
        tone="warning"
        title={words.conflictTitle}
        actions={
          <Button size="small" onClick={onReload}>
            {words.conflictReload}
          </Button>
        }
      >
        {words.conflictText}
      </Notice>
    );
  }
  if (code !== 'BLOCK_INPUTS_INVALID') return <ErrorNotice error={error} />;
  return (
    <Notice tone="danger" title={words.fixFields}>
      <ul>
        {otherErrors.map((message, index) => (
          <li key={index}>{message}</li>
        ))}
      </ul>
    </Notice>
  );
}

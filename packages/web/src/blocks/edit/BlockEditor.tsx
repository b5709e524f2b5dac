import type { BlockInputs, BlockView } from '@behalf/contracts';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode, type SubmitEvent } from 'react';
import { ApiError } from '../../api/apiError.ts';
import { fieldErrorText } from '../../api/fieldErrors.ts';
import { useUnloadWarning } from '../../hooks/useUnloadWarning.ts';
import type { JsonRecord } from '../../result/isRecord.ts';
import { focusFirstInvalid } from '../../schemaForm/focusFirstControl.ts';
import type { PlacedErrors } from '../../schemaForm/placeErrors.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { TextArea, TextField } from '../../ui/Field.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import styles from './BlockEditor.module.css';
import { beginInputs, placeRefusals, readInputs } from './inputsDraft.ts';
import { InputsForm } from './InputsForm.tsx';

export interface EditedTexts {
  readonly title: string;
  readonly description: string;
}

export interface Edited extends EditedTexts {
  /** Undefined: they stay as they are. */
  readonly inputs: BlockInputs | undefined;
}

interface EditorProps {
  readonly texts: EditedTexts;
  readonly onTexts: (texts: EditedTexts) => void;
  /** What stands for an empty title; undefined: a title is needed. */
  readonly placeholder?: string;
  /** Undefined: the tool cannot be asked, and its inputs stay. */
  readonly schema: JsonRecord | undefined;
  readonly inputs: BlockInputs;
  readonly isChanged: boolean;
  readonly label: string;
  readonly save: (edited: Edited) => Promise<BlockView>;
  readonly onSaved: (block: BlockView) => Promise<void>;
  readonly onCancel: () => void;
  /** Instead of the inputs, where the tool cannot be asked. */
  readonly children?: ReactNode;
  /** What to do about a block that somebody else has changed. */
  readonly onReload?: () => void;
}

const NOTHING: PlacedErrors = { fields: new Map(), others: [] };

/** Title, description and inputs of a block. What the gateway refuses stands at its field. */
export function BlockEditor(props: EditorProps) {
  const { texts, onTexts, placeholder, schema, inputs, label, onSaved, onCancel } = props;
  const words = strings.blocks.form;
  const [first] = useState(() => (schema ? beginInputs(schema, inputs) : undefined));
  const [draft, setDraft] = useState(first);
  const [wrong, setWrong] = useState(NOTHING);
  const [isAsking, setAsking] = useState(false);
  const [refusals, setRefusals] = useState(0);
  const element = useRef<HTMLFormElement>(null);
  const saving = useMutation({
    mutationFn: props.save,
    onSuccess: onSaved,
    onError: (error) => {
      if (error instanceof ApiError && draft) {
        const placed = placeRefusals(
          draft,
          error.errors.filter(({ path }) => path.startsWith('inputs')),
        );
        setWrong(placed);
      }
      setRefusals((count) => count + 1);
    },
  });
  const isChanged = (props.isChanged || draft !== first) && !saving.isSuccess;
  const isTitleMissing = placeholder === undefined && texts.title.trim() === '';
  useUnloadWarning(isChanged);
  useEffect(() => {
    if (refusals > 0) focusFirstInvalid(element.current);
  }, [refusals]);

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const read = draft && readInputs(draft);
    setWrong({ fields: read?.errors ?? NOTHING.fields, others: [] });
    saving.reset();
    if (isTitleMissing || (read && read.errors.size > 0)) setRefusals((count) => count + 1);
    else saving.mutate({ ...texts, inputs: read?.inputs });
  }

  const { error } = saving;
  const titleError = isTitleMissing && refusals > 0 ? words.titleMissing : fieldErrorText(error, 'title');
  return (
    <Card>
      <form ref={element} className={styles['form']} noValidate onSubmit={submit}>
        <TextField
          label={words.title}
          hint={placeholder === undefined ? undefined : words.titleHint}
          placeholder={placeholder}
          isRequired={placeholder === undefined}
          error={titleError}
          maxLength={200}
          value={texts.title}
          onChange={({ target }) => onTexts({ ...texts, title: target.value })}
        />
        <TextArea
          label={words.description}
          hint={words.descriptionHint}
          error={fieldErrorText(error, 'description')}
          rows={2}
          maxLength={4096}
          value={texts.description}
          onChange={({ target }) => onTexts({ ...texts, description: target.value })}
        />
        {draft ? (
          <section className={styles['inputs']} aria-label={words.inputs}>
            <h2>{words.inputs}</h2>
            <p className={styles['hint']}>{words.inputsHint}</p>
            <InputsForm draft={draft} errors={wrong.fields} onChange={setDraft} />
          </section>
        ) : (
          props.children
        )}
        <Problem error={error} others={wrong.others} onReload={props.onReload} />
        <div className={styles['actions']}>
          <Button type="submit" variant="primary" isBusy={saving.isPending}>
            {label}
          </Button>
          <Button onClick={() => (isChanged ? setAsking(true) : onCancel())}>{strings.common.cancel}</Button>
        </div>
      </form>
      {isAsking && (
        <ConfirmDialog
          title={words.unsavedTitle}
          confirm={words.unsavedLeave}
          onConfirm={onCancel}
          onClose={() => setAsking(false)}
        >
          {words.unsavedText}
        </ConfirmDialog>
      )}
    </Card>
  );
}

function Problem({
  error,
  others,
  onReload,
}: {
  readonly error: unknown;
  readonly others: readonly string[];
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
    <Notice tone="danger" title={words.correct}>
      <ul>
        {others.map((message, index) => (
          <li key={index}>{message}</li>
        ))}
      </ul>
    </Notice>
  );
}

import type { BlockInputs, BlockView } from '@behalf/contracts';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, type SubmitEvent, useEffect, useMemo, useRef, useState } from 'react';
import { fieldErrorText } from '../../api/explain.ts';
import { ApiError } from '../../api/request.ts';
import { useUnloadWarning } from '../../hooks/useUnloadWarning.ts';
import type { JsonRecord } from '../../result/json.ts';
import { FieldView } from '../../schemaForm/SchemaForm.tsx';
import { type AssignedErrors, pathKey } from '../../schemaForm/fieldPath.ts';
import { formContext, renderFieldHint } from '../../schemaForm/formContext.tsx';
import { parseNode } from '../../schemaForm/parseNode.ts';
import { strings } from '../../strings/strings.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { TextArea, TextField } from '../../ui/Field.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { SegmentedControl } from '../../ui/SegmentedControl.tsx';
import { focusFirstInvalid } from '../../ui/focus.ts';
import styles from './BlockEditor.module.css';
import {
  type InputRow,
  type InputsDraft,
  assignInputErrors,
  createInputsDraft,
  inputModes,
  parseInputs,
} from './inputsDraft.ts';

interface BlockTexts {
  readonly title: string;
  readonly description: string;
}

interface BlockEdits extends BlockTexts {
  /** Undefined if the inputs do not change. */
  readonly inputs: BlockInputs | undefined;
}

interface BlockEditorProps {
  readonly texts: BlockTexts;
  readonly onTextsChange: (texts: BlockTexts) => void;
  /** Title used if the field is empty. Undefined if a title is required. */
  readonly placeholder?: string;
  /** Undefined if the tool is not available. The inputs do not change in that case. */
  readonly schema: JsonRecord | undefined;
  readonly inputs: BlockInputs;
  readonly isChanged: boolean;
  readonly label: string;
  readonly save: (edits: BlockEdits) => Promise<BlockView>;
  readonly onSaved: (block: BlockView) => Promise<void>;
  readonly onCancel: () => void;
  /** Replaces the inputs if the tool is not available. */
  readonly children?: ReactNode;
  /** Reloads the block after a version conflict. */
  readonly onReload?: () => void;
}

const NO_ERRORS: AssignedErrors = { byField: new Map(), otherErrors: [] };

/** Form for title, description and inputs. Errors of the gateway appear at their fields. */
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

/** Mode and value of each argument of the tool. */
function InputsForm({
  draft,
  errors,
  onChange,
}: {
  readonly draft: InputsDraft;
  readonly errors: ReadonlyMap<string, string>;
  readonly onChange: (draft: InputsDraft) => void;
}) {
  const words = strings.blocks.form;
  const root = draft.kind === 'rows' ? draft.form.root : undefined;
  const context = useMemo(() => ({ root: root ?? {}, errors }), [root, errors]);
  if (draft.kind === 'raw') {
    return (
      <TextArea
        label={words.jsonInputs}
        hint={words.jsonInputsHint}
        error={errors.get(pathKey([]))}
        className={styles['json']}
        rows={8}
        spellCheck={false}
        value={draft.text}
        onChange={({ target }) => onChange({ kind: 'raw', text: target.value })}
      />
    );
  }
  const { rows, undeclared } = draft;
  const setRow = (index: number, row: InputRow) => onChange({ ...draft, rows: rows.with(index, row) });
  return (
    <formContext.Provider value={context}>
      {rows.length === 0 && <p className={styles['hint']}>{words.noInputs}</p>}
      {rows.map((row, index) => (
        <InputRowFields
          key={row.property.name}
          row={row}
          root={draft.form.root}
          onChange={(next) => setRow(index, next)}
        />
      ))}
      {Object.keys(undeclared).length > 0 && (
        <section className={styles['row']} aria-label={words.undeclaredInputs}>
          <p className={styles['name']}>{words.undeclaredInputs}</p>
          <ul className={styles['others']}>
            {Object.entries(undeclared).map(([name, input]) => (
              <li key={name}>
                <code>{name}</code>
                <span className={styles['hint']}>{words.modes[input.mode]}</span>
                {input.mode !== 'ask' && (
                  <code className={styles['value']}>{JSON.stringify(input.value)}</code>
                )}
                <IconButton
                  size="small"
                  label={words.removeInput(name)}
                  icon={<Icon name="trash" size={16} />}
                  onClick={() =>
                    onChange({
                      ...draft,
                      undeclared: Object.fromEntries(
                        Object.entries(undeclared).filter(([other]) => other !== name),
                      ),
                    })
                  }
                />
              </li>
            ))}
          </ul>
        </section>
      )}
    </formContext.Provider>
  );
}

function InputRowFields({
  row,
  root,
  onChange,
}: {
  readonly row: InputRow;
  readonly root: Readonly<Record<string, unknown>>;
  readonly onChange: (row: InputRow) => void;
}) {
  const words = strings.blocks.form;
  const { property, mode, draft } = row;
  const { name, schema, isRequired } = property;
  const node = parseNode(root, schema);
  const label = node.title || name;
  return (
    <div className={styles['row']}>
      <div className={styles['head']}>
        <p className={styles['name']}>
          {label}
          {isRequired && <span className={styles['required']}> {strings.common.required}</span>}
        </p>
        <SegmentedControl
          label={words.inputLabel(label)}
          value={mode}
          options={inputModes.map((value) => ({ value, label: words.modes[value] }))}
          onChange={(next) => onChange({ ...row, mode: next })}
        />
      </div>
      <p className={styles['hint']}>{words.modeTexts[mode]}</p>
      {mode === 'ask' ? (
        renderFieldHint(node)
      ) : (
        <FieldView
          {...{ node, draft, label }}
          path={[name]}
          isRequired
          onChange={(next) => onChange({ ...row, draft: next })}
        />
      )}
    </div>
  );
}

import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { SelectField, Switch, TextArea, TextField } from '../ui/Field.tsx';
import styles from './SchemaForm.module.css';
import { createNewDraft } from './createDraft.ts';
import { type FieldProps, renderFieldHint, useFieldError, useRootSchema } from './formContext.tsx';
import type { ChoiceNode, ConstantNode, Draft, NumberNode, TextNode } from './formNode.ts';
import { optionLabel } from './parseAlternatives.ts';

type TypedField = Extract<Draft, { kind: 'text' }>;

const INPUT_TYPES = { line: 'text', date: 'date', email: 'email', url: 'url', password: 'password' } as const;

export function TextLineField({
  node,
  draft,
  label,
  path,
  isRequired,
  onChange,
}: FieldProps<TextNode, TypedField>) {
  const error = useFieldError(path);
  const inputProps = {
    ...{ label, error, isRequired, hint: renderFieldHint(node), value: draft.text },
    ...{ autoComplete: 'off', spellCheck: false },
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ kind: 'text', text: event.target.value }, path),
  };
  // A single-line field would remove line breaks.
  if (node.input === 'area' || draft.text.includes('\n')) {
    return <TextArea {...inputProps} rows={1} className={styles['area']} />;
  }
  return <TextField {...inputProps} type={INPUT_TYPES[node.input]} />;
}

/** A number field that keeps the typed text, even if it is not a number yet. */
export function NumberField({
  node,
  draft,
  label,
  path,
  isRequired,
  onChange,
}: FieldProps<NumberNode, TypedField>) {
  const error = useFieldError(path);
  return (
    <TextField
      {...{ label, error, isRequired }}
      hint={renderFieldHint(node)}
      inputMode={node.isInteger && (node.min ?? -1) >= 0 ? 'numeric' : 'decimal'}
      autoComplete="off"
      value={draft.text}
      onChange={(event) => onChange({ kind: 'text', text: event.target.value }, path)}
    />
  );
}

/** A switch if a value is required; otherwise three choices. */
export function BooleanField({
  node,
  draft,
  label,
  path,
  isRequired,
  onChange,
}: FieldProps<FieldProps['node'], Extract<Draft, { kind: 'boolean' }>>) {
  const { form, ...words } = { form: strings.tools.form, ...strings.common };
  const error = useFieldError(path);
  const change = (value: boolean | undefined) => onChange({ kind: 'boolean', value }, path);
  if (isRequired || typeof node.defaultValue === 'boolean') {
    return (
      <div>
        <Switch label={label} hint={renderFieldHint(node)} isOn={draft.value ?? false} onChange={change} />
        {error !== undefined && <p className={styles['error']}>{error}</p>}
      </div>
    );
  }
  return (
    <SelectField
      {...{ label, error }}
      hint={renderFieldHint(node)}
      value={draft.value === undefined ? '' : String(draft.value)}
      onChange={({ target }) => change(target.value === '' ? undefined : target.value === 'true')}
    >
      <option value="">{form.notSet}</option>
      <option value="true">{words.yes}</option>
      <option value="false">{words.no}</option>
    </SelectField>
  );
}

/** A constant, which is either sent or omitted. */
export function ConstantField({
  node,
  draft,
  label,
  path,
  isRequired,
  onChange,
}: FieldProps<ConstantNode, Extract<Draft, { kind: 'constant' }>>) {
  const value = optionLabel(node.value);
  if (isRequired) return <TextField label={label} hint={renderFieldHint(node)} value={value} readOnly />;
  return (
    <Switch
      label={strings.tools.form.constant(label, value)}
      hint={renderFieldHint(node)}
      isOn={draft.isOn}
      onChange={(isOn) => onChange({ kind: 'constant', isOn }, path)}
    />
  );
}

export function ChoiceField({
  node,
  draft,
  label,
  path,
  isRequired,
  onChange,
}: FieldProps<ChoiceNode, Extract<Draft, { kind: 'choice' }>>) {
  const words = strings.tools.form;
  const error = useFieldError(path);
  return (
    <SelectField
      {...{ label, error, isRequired }}
      hint={renderFieldHint(node)}
      value={String(draft.index)}
      onChange={({ target }) => onChange({ kind: 'choice', index: Number(target.value) }, path)}
    >
      {(!isRequired || draft.index === -1) && <option value="-1">{words.notSet}</option>}
      {node.options.map((option, index) => (
        <option key={index} value={String(index)}>
          {option.label}
        </option>
      ))}
    </SelectField>
  );
}

/** JSON input, for schemas or values that the form does not support. */
export function JsonField({
  node,
  draft,
  label,
  path,
  isRequired,
  onChange,
}: FieldProps<FieldProps['node'], Extract<Draft, { kind: 'json' }>>) {
  const words = strings.tools.form;
  const root = useRootSchema();
  const error = useFieldError(path);
  const types = node.kind === 'json' ? node.types : [];
  return (
    <div className={styles['stack']}>
      <TextArea
        {...{ label, error, isRequired }}
        hint={renderFieldHint(node, types.length > 0 ? words.jsonTypes(types.join(', ')) : words.jsonValue)}
        rows={2}
        className={styles['json']}
        autoComplete="off"
        spellCheck={false}
        value={draft.text}
        onChange={(event) => onChange({ kind: 'json', text: event.target.value }, path)}
      />
      {node.kind !== 'json' && path.length > 0 && (
        <div>
          <Button size="small" onClick={() => onChange(createNewDraft(root, node, path.length), path)}>
            {words.useField}
          </Button>
        </div>
      )}
    </div>
  );
}

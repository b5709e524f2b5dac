import { strings } from '../strings/strings.ts';
import { SelectField, Switch, TextArea, TextField } from '../ui/Field.tsx';
import type { Draft } from './draft.ts';
import { renderFieldHint } from './renderFieldHint.tsx';
import { useFieldError, type FieldProps } from './formContext.ts';
import type { ConstantNode, NumberNode, TextNode } from './formNode.ts';
import { optionLabel } from './parseOptions.ts';
import styles from './SchemaForm.module.css';

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
  // A field of one line would drop the line ends of a text that has some.
  if (node.input === 'area' || draft.text.includes('\n')) {
    return <TextArea {...inputProps} rows={1} className={styles['area']} />;
  }
  return <TextField {...inputProps} type={INPUT_TYPES[node.input]} />;
}

/** A text that is read as a number: what is typed stays there, also while it is none yet. */
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

/** A switch where it must say something; where it may also say nothing, three choices. */
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

/** There is one value only: it is sent, or it is left out. */
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

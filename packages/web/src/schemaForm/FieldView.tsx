import { strings } from '../strings/strings.ts';
import { Switch } from '../ui/Field.tsx';
import { ChoiceField } from './ChoiceField.tsx';
import { createNewDraft } from './createDraft.ts';
import { useRootSchema, type FieldProps } from './formContext.ts';
import { GroupField } from './GroupField.tsx';
import { JsonField } from './JsonField.tsx';
import { BooleanField, ConstantField, NumberField, TextLineField } from './ScalarFields.tsx';
import styles from './SchemaForm.module.css';

/** One place of the form, whatever it is. */
export function FieldView(props: FieldProps) {
  const { node, draft, isRequired } = props;
  // Leaving out what would be null anyway says the same.
  const canBeNull =
    draft.kind === 'null' || (node.isNullable && !(node.defaultValue === null && !isRequired));
  if (!canBeNull) return <FieldControl {...props} />;
  return (
    <div className={styles['nullable']}>
      {draft.kind !== 'null' && <FieldControl {...props} />}
      <NullSwitch {...props} />
    </div>
  );
}

function NullSwitch({ node, draft, label, path, onChange }: FieldProps) {
  const root = useRootSchema();
  return (
    <Switch
      label={strings.tools.form.setNull(label)}
      isOn={draft.kind === 'null'}
      onChange={(isOn) => onChange(isOn ? { kind: 'null' } : createNewDraft(root, node, path.length), path)}
    />
  );
}

function FieldControl(props: FieldProps) {
  const { node, draft } = props;
  switch (draft.kind) {
    case 'json':
      return <JsonField {...props} draft={draft} />;
    case 'text':
      return node.kind === 'number' ? (
        <NumberField {...props} node={node} draft={draft} />
      ) : (
        node.kind === 'text' && <TextLineField {...props} node={node} draft={draft} />
      );
    case 'choice':
      return node.kind === 'choice' && <ChoiceField {...props} node={node} draft={draft} />;
    case 'boolean':
      return <BooleanField {...props} draft={draft} />;
    case 'constant':
      return node.kind === 'constant' && <ConstantField {...props} node={node} draft={draft} />;
    default:
      return <GroupField {...props} />;
  }
}

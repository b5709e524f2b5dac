import { type ReactNode, useMemo, useRef } from 'react';
import { flushSync } from 'react-dom';
import { strings } from '../strings/strings.ts';
import { Button, IconButton } from '../ui/Button.tsx';
import { Switch } from '../ui/Field.tsx';
import { Icon } from '../ui/Icon.tsx';
import { focusFirstControl } from '../ui/focus.ts';
import { EntriesField, ListField, ObjectFields, VariantsField } from './GroupFields.tsx';
import {
  BooleanField,
  ChoiceField,
  ConstantField,
  JsonField,
  NumberField,
  TextLineField,
} from './ScalarFields.tsx';
import styles from './SchemaForm.module.css';
import { createNewDraft } from './createDraft.ts';
import type { FieldPath } from './fieldPath.ts';
import {
  type FieldProps,
  formContext,
  renderFieldHint,
  useFieldError,
  useRootSchema,
} from './formContext.tsx';
import type { Draft } from './formNode.ts';
import { type Form, parseNode } from './parseNode.ts';

/** Fields for the arguments of a tool. The parent component owns the state. */
export function SchemaForm({
  form,
  draft,
  errors,
  onChange,
}: {
  readonly form: Form;
  readonly draft: Draft;
  /** By path key. */
  readonly errors: ReadonlyMap<string, string>;
  /** Called with the path of the changed field. */
  readonly onChange: (draft: Draft, path: FieldPath) => void;
}) {
  const context = useMemo(() => ({ root: form.root, errors }), [form, errors]);
  return <formContext.Provider value={context}>{renderFields(form, draft, onChange)}</formContext.Provider>;
}

/** The top-level arguments have no frame. */
function renderFields({ root, node }: Form, draft: Draft, onChange: (draft: Draft, path: FieldPath) => void) {
  const words = strings.tools.form;
  if (node.kind === 'object' && draft.kind === 'object') {
    if (node.properties.length > 0 || draft.extras.length > 0) {
      return <ObjectFields {...{ node, draft, onChange }} path={[]} />;
    }
    return <p className={styles['hint']}>{words.noArguments}</p>;
  }
  if (node.kind === 'map' && draft.kind === 'map') {
    return (
      <EntriesField
        node={parseNode(root, node.valueSchema)}
        entries={draft.entries}
        path={[]}
        canAdd
        onChange={(entries) => onChange({ kind: 'map', entries }, [])}
      />
    );
  }
  return (
    <FieldView {...{ node, draft, onChange }} label={words.jsonArguments} path={[]} isRequired={false} />
  );
}

/** One field of any kind. */
export function FieldView(props: FieldProps) {
  const { node, draft, isRequired } = props;
  // If null is the default, omitting the value is equivalent.
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

/** A field with nested fields. An optional one appears after the user adds it. */
function GroupField(props: FieldProps) {
  const { node, draft, label, path, isRequired, onChange } = props;
  const root = useRootSchema();
  const error = useFieldError(path);
  const boxRef = useRef<HTMLDivElement>(null);

  function add(): void {
    flushSync(() => onChange(createNewDraft(root, node, path.length), path));
    focusFirstControl(boxRef.current);
  }

  function remove(): void {
    flushSync(() => onChange({ kind: 'absent' }, path));
    focusFirstControl(boxRef.current);
  }

  return (
    <div ref={boxRef}>
      {draft.kind === 'absent' ? (
        <>
          <Button
            icon={<Icon name="plus" size={16} />}
            className={styles['add'] ?? ''}
            onClick={add}
            data-invalid={error === undefined ? undefined : true}
          >
            {strings.tools.form.add(label)}
          </Button>
          {error !== undefined && <p className={styles['error']}>{error}</p>}
        </>
      ) : (
        <FieldGroup {...{ node, label, path, isRequired }} onRemove={isRequired ? undefined : remove}>
          {draft.kind === 'object' && node.kind === 'object' && (
            <ObjectFields {...{ node, draft, path, onChange }} />
          )}
          {draft.kind === 'map' && node.kind === 'map' && (
            <EntriesField
              node={parseNode(root, node.valueSchema)}
              entries={draft.entries}
              path={path}
              canAdd
              onChange={(entries) => onChange({ kind: 'map', entries }, path)}
            />
          )}
          {draft.kind === 'list' && node.kind === 'list' && (
            <ListField {...{ node, draft, label, path, onChange }} />
          )}
          {draft.kind === 'variants' && node.kind === 'variants' && (
            <VariantsField {...{ node, draft, label, path, isRequired, onChange }} />
          )}
        </FieldGroup>
      )}
    </div>
  );
}

/** A titled group of fields. With `onRemove` the group can be removed. */
function FieldGroup({
  node,
  label,
  path,
  isRequired,
  onRemove,
  children,
}: Pick<FieldProps, 'node' | 'label' | 'path' | 'isRequired'> & {
  readonly onRemove?: (() => void) | undefined;
  readonly children: ReactNode;
}) {
  const error = useFieldError(path);
  const hint = renderFieldHint(node);
  return (
    // Receives the focus if the group itself is invalid.
    <fieldset className={styles['group']} tabIndex={-1} data-invalid={error === undefined ? undefined : true}>
      <legend className={styles['legend']}>
        {label}
        {isRequired && <span className={styles['required']}> {strings.common.required}</span>}
      </legend>
      {onRemove && (
        <IconButton
          className={styles['removeGroup'] ?? ''}
          size="small"
          label={strings.tools.form.remove(label)}
          icon={<Icon name="trash" size={16} />}
          onClick={onRemove}
        />
      )}
      {hint}
      {error !== undefined && <p className={styles['error']}>{error}</p>}
      {children}
    </fieldset>
  );
}

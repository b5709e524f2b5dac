import { useMemo } from 'react';
import { strings } from '../strings/strings.ts';
import type { Draft } from './draft.ts';
import { EntriesField } from './EntriesField.tsx';
import type { FieldPath } from './fieldPath.ts';
import { FieldView } from './FieldView.tsx';
import { formContext } from './formContext.ts';
import { ObjectFields } from './ObjectFields.tsx';
import type { Form } from './parseForm.ts';
import { parseNode } from './parseNode.ts';
import styles from './SchemaForm.module.css';

/** The fields for the arguments of a tool. What is entered lives with whoever shows the form. */
export function SchemaForm({
  form,
  draft,
  errors,
  onChange,
}: {
  readonly form: Form;
  readonly draft: Draft;
  /** By the key of the path. */
  readonly errors: ReadonlyMap<string, string>;
  /** With the place where something changed. */
  readonly onChange: (draft: Draft, path: FieldPath) => void;
}) {
  const context = useMemo(() => ({ root: form.root, errors }), [form, errors]);
  return <formContext.Provider value={context}>{renderFields(form, draft, onChange)}</formContext.Provider>;
}

/** The arguments themselves need no frame around their fields. */
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

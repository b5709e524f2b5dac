import { useProgressiveCount } from '../hooks/useProgressiveCount.ts';
import { strings } from '../strings/strings.ts';
import type { Draft } from './draft.ts';
import { EntriesField } from './EntriesField.tsx';
import { FieldView } from './FieldView.tsx';
import { useRoot, type FieldProps } from './formContext.ts';
import type { FormNode, ObjectNode } from './formNode.ts';
import { readNode } from './readNode.ts';
import styles from './SchemaForm.module.css';

/** Rendered at once; the others follow. */
const FIELDS_AT_ONCE = 30;

/** The members of an object, in the order in which the server describes them. */
export function ObjectFields({
  node,
  draft,
  path,
  onChange,
}: Pick<FieldProps<ObjectNode, Extract<Draft, { kind: 'object' }>>, 'node' | 'draft' | 'path' | 'onChange'>) {
  const words = strings.tools.form;
  const root = useRoot();
  const shown = useProgressiveCount(node.properties.length, FIELDS_AT_ONCE);
  const any: FormNode = { ...node, kind: 'json', types: [], title: '', description: '' };
  return (
    <div className={styles['stack']}>
      {node.properties.slice(0, shown).map(({ name, schema, isRequired }, index) => {
        const field = draft.fields[index];
        if (!field) return null;
        const child = readNode(root, schema);
        return (
          <FieldView
            key={name}
            node={child}
            draft={field}
            label={child.title || name}
            path={[...path, name]}
            isRequired={isRequired}
            onChange={(next, at) => onChange({ ...draft, fields: draft.fields.with(index, next) }, at)}
          />
        );
      })}
      {draft.extras.length > 0 && (
        <>
          <p className={styles['hint']}>{words.others}</p>
          <EntriesField
            node={any}
            entries={draft.extras}
            path={path}
            canAdd={false}
            onChange={(extras) => onChange({ ...draft, extras }, path)}
          />
        </>
      )}
      {node.isPartial && <p className={styles['hint']}>{words.partial}</p>}
    </div>
  );
}

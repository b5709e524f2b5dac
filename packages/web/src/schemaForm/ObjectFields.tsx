import { useProgressiveCount } from '../hooks/useProgressiveCount.ts';
import { strings } from '../strings/strings.ts';
import type { Draft } from './draft.ts';
import { EntriesField } from './EntriesField.tsx';
import { FieldView } from './FieldView.tsx';
import { useRootSchema, type FieldProps } from './formContext.ts';
import type { FormNode, ObjectNode } from './formNode.ts';
import { parseNode } from './parseNode.ts';
import styles from './SchemaForm.module.css';

/** Rendered at once; the others follow. */
const FIELDS_PER_STEP = 30;

/** The members of an object, in the order in which the server describes them. */
export function ObjectFields({
  node,
  draft,
  path,
  onChange,
}: Pick<FieldProps<ObjectNode, Extract<Draft, { kind: 'object' }>>, 'node' | 'draft' | 'path' | 'onChange'>) {
  const words = strings.tools.form;
  const root = useRootSchema();
  const shownCount = useProgressiveCount(node.properties.length, FIELDS_PER_STEP);
  const anyNode: FormNode = { ...node, kind: 'json', types: [], title: '', description: '' };
  return (
    <div className={styles['stack']}>
      {node.properties.slice(0, shownCount).map(({ name, schema, isRequired }, index) => {
        const field = draft.fields[index];
        if (!field) return null;
        const child = parseNode(root, schema);
        return (
          <FieldView
            key={name}
            node={child}
            draft={field}
            label={child.title || name}
            path={[...path, name]}
            isRequired={isRequired}
            onChange={(next, changedPath) =>
              onChange({ ...draft, fields: draft.fields.with(index, next) }, changedPath)
            }
          />
        );
      })}
      {draft.extras.length > 0 && (
        <>
          <p className={styles['hint']}>{words.otherArguments}</p>
          <EntriesField
            node={anyNode}
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

import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { TextArea } from '../ui/Field.tsx';
import { createNewDraft } from './createDraft.ts';
import type { Draft } from './draft.ts';
import { renderFieldHint } from './renderFieldHint.tsx';
import { useFieldError, useRootSchema, type FieldProps } from './formContext.ts';
import styles from './SchemaForm.module.css';

/** A value written as JSON: where the schema is beyond a form, or the value beyond its field. */
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

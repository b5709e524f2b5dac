import { strings } from '../strings/strings.ts';
import { SelectField } from '../ui/Field.tsx';
import { createNewDraft } from './createDraft.ts';
import type { Draft } from './draft.ts';
import type { FieldPath } from './fieldPath.ts';
import { FieldView } from './FieldView.tsx';
import { useRootSchema, type FieldProps } from './formContext.ts';
import type { VariantsNode } from './formNode.ts';
import { ObjectFields } from './ObjectFields.tsx';
import { parseNode } from './parseNode.ts';
import styles from './SchemaForm.module.css';

/** One of several forms: which one, and then its fields. */
export function VariantsField({
  node,
  draft,
  label,
  path,
  isRequired,
  onChange,
}: FieldProps<VariantsNode, Extract<Draft, { kind: 'variants' }>>) {
  const words = strings.tools.form;
  const root = useRootSchema();
  const { variants } = node;
  const variantLabelAt = (index: number) => variants[index]?.label || words.variantNumber(index + 1);
  const child = parseNode(root, variants[draft.index]?.schema);

  const change = (next: Draft, at: FieldPath) => onChange({ ...draft, draft: next }, at);

  function choose(index: number): void {
    const selectedNode = parseNode(root, variants[index]?.schema);
    onChange({ kind: 'variants', index, draft: createNewDraft(root, selectedNode, path.length + 1) }, path);
  }

  return (
    <div className={styles['stack']}>
      <SelectField
        label={words.variant(label)}
        value={String(draft.index)}
        onChange={({ target }) => choose(Number(target.value))}
      >
        {variants.map((_, index) => (
          <option key={index} value={String(index)}>
            {variantLabelAt(index)}
          </option>
        ))}
      </SelectField>
      {child.kind === 'object' && draft.draft.kind === 'object' ? (
        // It stands in the frame of the whole already.
        <ObjectFields key={draft.index} node={child} draft={draft.draft} path={path} onChange={change} />
      ) : (
        <FieldView
          key={draft.index}
          node={child}
          draft={draft.draft}
          label={variantLabelAt(draft.index)}
          path={path}
          isRequired={isRequired}
          onChange={change}
        />
      )}
    </div>
  );
}

import { strings } from '../strings/strings.ts';
import { SelectField } from '../ui/Field.tsx';
import type { Draft } from './draft.ts';
import { renderFieldHint } from './renderFieldHint.tsx';
import { useFieldError, type FieldProps } from './formContext.ts';
import type { ChoiceNode } from './formNode.ts';

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

import { useRef } from 'react';
import { flushSync } from 'react-dom';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import { createNewDraft } from './createDraft.ts';
import { EntriesField } from './EntriesField.tsx';
import { useFieldError, useRootSchema, type FieldProps } from './formContext.ts';
import { focusFirstControl } from './focusFirstControl.ts';
import { FieldGroup } from './FieldGroup.tsx';
import { ListField } from './ListField.tsx';
import { ObjectFields } from './ObjectFields.tsx';
import { parseNode } from './parseNode.ts';
import styles from './SchemaForm.module.css';
import { VariantsField } from './VariantsField.tsx';

/** A place that holds other places. One that is optional is not there until somebody adds it. */
export function GroupField(props: FieldProps) {
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

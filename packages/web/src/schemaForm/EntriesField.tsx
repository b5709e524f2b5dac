import { useRef } from 'react';
import { flushSync } from 'react-dom';
import { strings } from '../strings/strings.ts';
import { Button, IconButton } from '../ui/Button.tsx';
import { TextField } from '../ui/Field.tsx';
import { Icon } from '../ui/Icon.tsx';
import { createNewDraft } from './createDraft.ts';
import { nextItemId, type Entry } from './draft.ts';
import type { FieldPath } from './fieldPath.ts';
import { FieldView } from './FieldView.tsx';
import { focusFirstControl } from './focusFirstControl.ts';
import { useFieldError, useRootSchema } from './formContext.ts';
import type { FormNode } from './formNode.ts';
import styles from './SchemaForm.module.css';

/** Rows of a name and a value. */
export function EntriesField({
  node,
  entries,
  path,
  canAdd,
  onChange,
}: {
  readonly node: FormNode;
  readonly entries: readonly Entry[];
  readonly path: FieldPath;
  readonly canAdd: boolean;
  readonly onChange: (entries: readonly Entry[]) => void;
}) {
  const words = strings.tools.form;
  const root = useRootSchema();
  const boxRef = useRef<HTMLDivElement>(null);

  function add(): void {
    const draft = createNewDraft(root, node, path.length + 1);
    flushSync(() => onChange([...entries, { id: nextItemId(entries), name: '', draft }]));
    focusFirstControl(boxRef.current?.querySelector('[data-entry]:nth-last-child(2)') ?? null);
  }

  function remove(id: number): void {
    flushSync(() => onChange(entries.filter((entry) => entry.id !== id)));
    focusFirstControl(boxRef.current);
  }

  return (
    <div ref={boxRef} className={styles['stack']}>
      {entries.map((entry, index) => (
        <EntryRow
          key={entry.id}
          node={node}
          entry={entry}
          path={path}
          isDuplicate={entries.findIndex(({ name }) => name === entry.name) !== index}
          onChange={(next) => onChange(entries.with(index, next))}
          onRemove={() => remove(entry.id)}
        />
      ))}
      {canAdd && (
        <div>
          <Button size="small" icon={<Icon name="plus" size={16} />} onClick={add}>
            {words.add(words.entry)}
          </Button>
        </div>
      )}
    </div>
  );
}

function EntryRow({
  node,
  entry,
  path,
  isDuplicate,
  onChange,
  onRemove,
}: {
  readonly node: FormNode;
  readonly entry: Entry;
  readonly path: FieldPath;
  readonly isDuplicate: boolean;
  readonly onChange: (entry: Entry) => void;
  readonly onRemove: () => void;
}) {
  const words = strings.tools.form;
  const entryPath = [...path, entry.name];
  const error = useFieldError(entryPath);
  return (
    <div className={styles['entry']} data-entry="">
      <TextField
        label={words.entryName}
        autoComplete="off"
        value={entry.name}
        error={isDuplicate || entry.name === '' ? error : undefined}
        onChange={(event) => onChange({ ...entry, name: event.target.value })}
      />
      <FieldView
        node={node}
        draft={entry.draft}
        label={node.title || words.entryValue}
        path={entryPath}
        isRequired
        onChange={(draft) => onChange({ ...entry, draft })}
      />
      <IconButton
        size="small"
        label={words.remove(entry.name || words.entry)}
        icon={<Icon name="trash" size={16} />}
        onClick={onRemove}
      />
    </div>
  );
}

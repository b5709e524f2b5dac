import { type MouseEvent, useRef } from 'react';
import { flushSync } from 'react-dom';
import { strings } from '../strings/strings.ts';
import { Button, IconButton } from '../ui/Button.tsx';
import { SelectField, TextField } from '../ui/Field.tsx';
import { Icon } from '../ui/Icon.tsx';
import { useProgressiveCount } from '../ui/LongList.tsx';
import { focusFirstControl } from '../ui/focus.ts';
import styles from './SchemaForm.module.css';
import { FieldView } from './SchemaForm.tsx';
import { createNewDraft } from './createDraft.ts';
import type { FieldPath } from './fieldPath.ts';
import { type FieldProps, useFieldError, useRootSchema } from './formContext.tsx';
import {
  type Draft,
  type Entry,
  type FormNode,
  type Item,
  type ListNode,
  type ObjectNode,
  type VariantsNode,
  nextItemId,
} from './formNode.ts';
import { parseNode } from './parseNode.ts';

/** Fields rendered at once; the others follow. */
const FIELDS_PER_STEP = 30;

/** The members of an object in the order of the schema. */
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

/** Rows of name and value. */
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

/** Items that can be added, removed and moved. */
export function ListField({
  node,
  draft,
  label,
  path,
  onChange,
}: Omit<FieldProps<ListNode, Extract<Draft, { kind: 'list' }>>, 'isRequired'>) {
  const words = strings.tools.form;
  const root = useRootSchema();
  const boxRef = useRef<HTMLDivElement>(null);
  const addButtonRef = useRef<HTMLButtonElement>(null);
  const { items } = draft;
  const child = parseNode(root, node.itemSchema);
  const change = (next: readonly Item[]) => onChange({ kind: 'list', items: next }, path);

  function add(): void {
    const item = { id: nextItemId(items), draft: createNewDraft(root, child, path.length + 1) };
    flushSync(() => change([...items, item]));
    focusFirstControl(boxRef.current?.querySelector('[data-item]:nth-last-child(2)') ?? null);
  }

  function remove(index: number): void {
    flushSync(() => change(items.toSpliced(index, 1)));
    addButtonRef.current?.focus();
  }

  function move(index: number, offset: 1 | -1, { currentTarget }: MouseEvent<HTMLButtonElement>): void {
    const item = items[index];
    if (!item) return;
    flushSync(() => change(items.toSpliced(index, 1).toSpliced(index + offset, 0, item)));
    // A moved item loses the focus, and a disabled button cannot have it.
    if (!currentTarget.disabled) currentTarget.focus();
    else focusFirstControl(currentTarget.parentElement?.parentElement ?? null);
  }

  return (
    <div ref={boxRef} className={styles['stack']}>
      {items.map((item, index) => {
        const name = words.item(child.title || label, index + 1);
        return (
          <div key={item.id} className={styles['item']} data-item="">
            <FieldView
              node={child}
              draft={item.draft}
              label={name}
              path={[...path, index]}
              isRequired
              onChange={(next, at) =>
                onChange({ kind: 'list', items: items.with(index, { ...item, draft: next }) }, at)
              }
            />
            <div className={styles['controls']}>
              <IconButton
                size="small"
                label={words.moveUp(name)}
                icon={<Icon name="up" size={16} />}
                disabled={index === 0}
                onClick={(event) => move(index, -1, event)}
              />
              <IconButton
                size="small"
                label={words.moveDown(name)}
                icon={<Icon name="down" size={16} />}
                disabled={index === items.length - 1}
                onClick={(event) => move(index, 1, event)}
              />
              <IconButton
                size="small"
                label={words.remove(name)}
                icon={<Icon name="trash" size={16} />}
                onClick={() => remove(index)}
              />
            </div>
          </div>
        );
      })}
      <div>
        <Button
          ref={addButtonRef}
          size="small"
          icon={<Icon name="plus" size={16} />}
          disabled={node.maxItems !== undefined && items.length >= node.maxItems}
          onClick={add}
        >
          {words.add(child.title || words.listItem)}
        </Button>
      </div>
    </div>
  );
}

/** A choice between alternative schemas, and the fields of the selected one. */
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
        // The parent already renders a frame.
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

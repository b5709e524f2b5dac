import { useRef, type MouseEvent } from 'react';
import { flushSync } from 'react-dom';
import { strings } from '../strings/strings.ts';
import { Button, IconButton } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import { createNewDraft } from './createDraft.ts';
import { nextItemId, type Draft, type Item } from './draft.ts';
import { FieldView } from './FieldView.tsx';
import { focusFirstControl } from './focusFirstControl.ts';
import { useRootSchema, type FieldProps } from './formContext.ts';
import type { ListNode } from './formNode.ts';
import { parseNode } from './parseNode.ts';
import styles from './SchemaForm.module.css';

/** Items one below the other, which can be added, removed and moved. */
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
    // An item that is moved loses the focus, and a button that has nothing left to do cannot have it.
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

import { useRef, type MouseEvent } from 'react';
import { flushSync } from 'react-dom';
import { strings } from '../strings/strings.ts';
import { Button, IconButton } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import { draftOfNew } from './createDraft.ts';
import { nextId, type Draft, type Item } from './draft.ts';
import { FieldView } from './FieldView.tsx';
import { focusFirstControl } from './focusFirstControl.ts';
import { useRoot, type FieldProps } from './formContext.ts';
import type { ListNode } from './formNode.ts';
import { readNode } from './readNode.ts';
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
  const root = useRoot();
  const box = useRef<HTMLDivElement>(null);
  const adder = useRef<HTMLButtonElement>(null);
  const { items } = draft;
  const child = readNode(root, node.itemSchema);
  const change = (next: readonly Item[]) => onChange({ kind: 'list', items: next }, path);

  function add(): void {
    const item = { id: nextId(items), draft: draftOfNew(root, child, path.length + 1) };
    flushSync(() => change([...items, item]));
    focusFirstControl(box.current?.querySelector('[data-item]:nth-last-child(2)') ?? null);
  }

  function remove(index: number): void {
    flushSync(() => change(items.toSpliced(index, 1)));
    adder.current?.focus();
  }

  function move(index: number, by: 1 | -1, { currentTarget }: MouseEvent<HTMLButtonElement>): void {
    const item = items[index];
    if (!item) return;
    flushSync(() => change(items.toSpliced(index, 1).toSpliced(index + by, 0, item)));
    // An item that is moved loses the focus, and a button that has nothing left to do cannot have it.
    if (!currentTarget.disabled) currentTarget.focus();
    else focusFirstControl(currentTarget.parentElement?.parentElement ?? null);
  }

  return (
    <div ref={box} className={styles['stack']}>
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
          ref={adder}
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

import { useState } from 'react';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import styles from './JsonTree.module.css';

/** Items of one object or array that are shown before the user requests more. */
const PAGE_SIZE = 100;
const MAX_TEXT_LENGTH = 2_000;
/** Levels that are open initially. A large value costs nothing until the user opens it. */
const INITIAL_OPEN_DEPTH = 2;
const MAX_INITIAL_OPEN_ENTRIES = 20;

/** A collapsible tree. Collapsed values are not rendered. */
export function JsonTree({ value }: { readonly value: unknown }) {
  return (
    <div className={styles['tree']}>
      <JsonNode value={value} depth={0} />
    </div>
  );
}

interface NodeProps {
  readonly value: unknown;
  readonly depth: number;
  readonly name?: string;
}

function JsonNode({ value, depth, name }: NodeProps) {
  if (typeof value !== 'object' || value === null) {
    return (
      <div className={styles['leaf']}>
        <EntryName name={name} />
        <ScalarValue value={value} />
      </div>
    );
  }
  return <Branch value={value} depth={depth} {...(name !== undefined && { name })} />;
}

function Branch({ value, depth, name }: NodeProps & { readonly value: object }) {
  const words = strings.tools.result;
  const isArray = Array.isArray(value);
  const names = isArray ? undefined : Object.keys(value);
  const count = names?.length ?? (value as readonly unknown[]).length;
  const [isOpen, setOpen] = useState(depth < INITIAL_OPEN_DEPTH && count <= MAX_INITIAL_OPEN_ENTRIES);
  const [shownCount, setShownCount] = useState(PAGE_SIZE);
  const empty = isArray ? '[]' : '{}';
  if (count === 0) {
    return (
      <div className={styles['leaf']}>
        <EntryName name={name} />
        {empty}
      </div>
    );
  }
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={styles['summary']}>
        <EntryName name={name} />
        <span className={styles['count']}>
          {empty} {words.entries(count)}
        </span>
      </summary>
      {isOpen && (
        <div className={styles['children']}>
          {Array.from({ length: Math.min(count, shownCount) }, (_, index) => {
            const key = names ? (names[index] ?? '') : String(index);
            const child = (value as Readonly<Record<string, unknown>>)[key];
            return <JsonNode key={key} name={key} value={child} depth={depth + 1} />;
          })}
          {count > shownCount && (
            <Button size="small" variant="quiet" onClick={() => setShownCount(shownCount + PAGE_SIZE)}>
              {words.moreEntries(Math.min(PAGE_SIZE, count - shownCount))}
            </Button>
          )}
        </div>
      )}
    </details>
  );
}

function EntryName({ name }: { readonly name: string | undefined }) {
  return name === undefined ? null : <span className={styles['name']}>{`${name}: `}</span>;
}

function ScalarValue({ value }: { readonly value: unknown }) {
  const [isExpanded, setExpanded] = useState(false);
  if (typeof value !== 'string') return <span className={styles['value']}>{String(value)}</span>;
  const isTruncated = !isExpanded && value.length > MAX_TEXT_LENGTH;
  return (
    <>
      <span className={styles['text']}>
        {JSON.stringify(isTruncated ? value.slice(0, MAX_TEXT_LENGTH) : value)}
      </span>
      {isTruncated && (
        <Button size="small" variant="quiet" onClick={() => setExpanded(true)}>
          {strings.tools.result.showFullText}
        </Button>
      )}
    </>
  );
}

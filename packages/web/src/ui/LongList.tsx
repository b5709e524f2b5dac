import { Fragment, type ReactNode, startTransition, useEffect, useState } from 'react';
import styles from './LongList.module.css';

/** Entries that are rendered in one go, and that the browser leaves out in one piece while they are out of sight. */
const CHUNK_SIZE = 25;

/**
 * A list of any length. Its pieces are added while nobody waits, and what is out of sight costs nothing: a rule for each
 * entry instead of each piece would cost the browser more than it spares.
 */
export function LongList<T>({
  label,
  items,
  keyOf,
  itemHeight,
  children,
}: {
  readonly label: string;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  /** About how tall an entry is, in rem: how long the list is before it was looked at. */
  readonly itemHeight: number;
  /** An entry. Memoize it: it is asked for again whenever the list grows. */
  readonly children: (item: T) => ReactNode;
}) {
  const shownCount = useProgressiveCount(items.length, CHUNK_SIZE);
  return (
    <div role="list" aria-label={label}>
      {Array.from({ length: Math.ceil(shownCount / CHUNK_SIZE) }, (_, chunk) => {
        const chunkItems = items.slice(chunk * CHUNK_SIZE, (chunk + 1) * CHUNK_SIZE);
        return (
          <div
            key={chunk}
            role="presentation"
            className={styles['piece']}
            style={{ containIntrinsicBlockSize: `auto ${chunkItems.length * itemHeight}rem` }}
          >
            {chunkItems.map((item) => (
              <Fragment key={keyOf(item)}>{children(item)}</Fragment>
            ))}
          </div>
        );
      })}
    </div>
  );
}

/** A frame: what was added is shown, and keys are heard, before more is added. */
const STEP_DELAY_MS = 16;

/**
 * How much of a long list is rendered: a first piece at once, and the rest piece by piece while nobody waits for it. Another
 * `subject` is another list, and begins with its first piece.
 */
export function useProgressiveCount(total: number, step: number, resetKey = ''): number {
  const [count, setCount] = useState(step);
  const [currentKey, setCurrent] = useState(resetKey);
  if (currentKey !== resetKey) {
    setCurrent(resetKey);
    setCount(step);
  }
  const isComplete = count >= total;
  useEffect(() => {
    if (isComplete) return undefined;
    const timer = setTimeout(() => startTransition(() => setCount(count + step)), STEP_DELAY_MS);
    return () => clearTimeout(timer);
  }, [count, isComplete, step]);
  return Math.min(count, total);
}

/** The first of many, and a way to the next: a thousand at once would hold up the page. */
export function usePagedItems<T>(items: readonly T[], step: number) {
  const [pages, setPages] = useState(1);
  const shown = items.slice(0, pages * step);
  const hidden = items.length - shown.length;
  return { shown, nextCount: Math.min(hidden, step), showMore: () => setPages(pages + 1) };
}

import { Fragment, type ReactNode, startTransition, useEffect, useState } from 'react';
import styles from './LongList.module.css';

/** Entries per chunk. The browser skips a whole chunk while it is out of view. */
const CHUNK_SIZE = 25;

/**
 * A list of any length. Chunks are added when the browser is idle, and chunks out of view are not laid out. Doing
 * this per entry would cost more than it saves.
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
  /** The estimated height of an entry in rem, for the height of chunks that were not laid out yet. */
  readonly itemHeight: number;
  /** Renders an entry. Memoize it, because it is called again whenever the list grows. */
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

/** One frame, so that the browser can paint and handle input between two chunks. */
const STEP_DELAY_MS = 16;

/**
 * How many items of a long list to render: the first chunk immediately, the others when the browser is idle. A new
 * `resetKey` starts again with the first chunk.
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

/** Renders the first items and a way to show more, because thousands at once would block the page. */
export function usePagedItems<T>(items: readonly T[], step: number) {
  const [pages, setPages] = useState(1);
  const shown = items.slice(0, pages * step);
  const hidden = items.length - shown.length;
  return { shown, nextCount: Math.min(hidden, step), showMore: () => setPages(pages + 1) };
}

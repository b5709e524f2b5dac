import { Fragment, type ReactNode } from 'react';
import { useProgressiveCount } from '../hooks/useProgressiveCount.ts';
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

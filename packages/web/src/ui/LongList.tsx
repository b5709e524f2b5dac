import { Fragment, type ReactNode } from 'react';
import { useGrowing } from '../hooks/useGrowing.ts';
import styles from './LongList.module.css';

/** Entries that are rendered in one go, and that the browser leaves out in one piece while they are out of sight. */
const PIECE = 25;

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
  const shown = useGrowing(items.length, PIECE);
  return (
    <div role="list" aria-label={label}>
      {Array.from({ length: Math.ceil(shown / PIECE) }, (_, piece) => {
        const some = items.slice(piece * PIECE, (piece + 1) * PIECE);
        return (
          <div
            key={piece}
            role="presentation"
            className={styles['piece']}
            style={{ containIntrinsicBlockSize: `auto ${some.length * itemHeight}rem` }}
          >
            {some.map((item) => (
              <Fragment key={keyOf(item)}>{children(item)}</Fragment>
            ))}
          </div>
        );
      })}
    </div>
  );
}

import { memo, useEffect, useMemo, useRef, useState } from 'react';
import { strings } from '../strings/strings.ts';
import styles from './ExactArguments.module.css';
import { type ExactLinePiece, chunkExactLines, formatExactLines } from './exactLines.ts';

/** What is put on the page between two pictures. */
const CHUNKS_PER_STEP = 10;
/** Deeper lines are not moved further: there would be no room left for them. */
const MAX_INDENT = 12;

/** Arguments as they will be sent: whole, nothing folded, and nothing that cannot be seen. */
export function ExactArguments({
  args,
  onReachEnd,
}: {
  readonly args: Readonly<Record<string, unknown>>;
  /** Called with true once the end has been in sight. */
  readonly onReachEnd: (hasReachedEnd: boolean) => void;
}) {
  const chunks = useMemo(() => chunkExactLines(formatExactLines(args)), [args]);
  const [shownCount, setShownCount] = useState(CHUNKS_PER_STEP);
  const boxRef = useRef<HTMLDivElement>(null);
  const endRef = useRef<HTMLDivElement>(null);
  const isComplete = shownCount >= chunks.length;
  useEffect(() => {
    if (isComplete) return undefined;
    const timer = setTimeout(() => setShownCount(shownCount + CHUNKS_PER_STEP));
    return () => clearTimeout(timer);
  }, [isComplete, shownCount]);
  useEffect(() => {
    if (!isComplete || !endRef.current) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) onReachEnd(true);
      },
      { root: boxRef.current },
    );
    observer.observe(endRef.current);
    return () => observer.disconnect();
  }, [isComplete, onReachEnd]);
  return (
    // It scrolls by itself, so the keyboard must be able to reach it.
    <div
      ref={boxRef}
      className={styles['box']}
      dir="ltr"
      tabIndex={0}
      role="group"
      aria-label={strings.call.approval.arguments}
    >
      {chunks.slice(0, shownCount).map((chunk, index) => (
        <Chunk key={index} chunk={chunk} />
      ))}
      {isComplete && <div ref={endRef} className={styles['end']} />}
    </div>
  );
}

const Chunk = memo(function Chunk({ chunk }: { readonly chunk: readonly ExactLinePiece[] }) {
  return (
    <div className={styles['chunk']}>
      {chunk.map(({ number, depth, name, text, hasTrailingComma }, index) => (
        <div key={index} className={styles['line']} data-line={number}>
          {'  '.repeat(Math.min(depth, MAX_INDENT))}
          {/* Each by itself: letters that run from right to left must not carry a name behind its value. */}
          {name !== undefined && <bdi dir="ltr">{name}</bdi>}
          {name !== undefined && ': '}
          <bdi dir="ltr">{text}</bdi>
          {hasTrailingComma && ','}
        </div>
      ))}
    </div>
  );
});

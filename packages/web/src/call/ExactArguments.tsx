import { memo, useEffect, useMemo, useRef, useState } from 'react';
import { strings } from '../strings/strings.ts';
import styles from './ExactArguments.module.css';
import { type ExactLinePiece, chunkExactLines, formatExactLines } from './exactLines.ts';

/** Chunks added per render step, so that long arguments do not block the page. */
const CHUNKS_PER_STEP = 10;
/** Maximum indentation level, so that deeply nested lines still have room. */
const MAX_INDENT = 12;

/** Arguments exactly as they will be sent: complete, unfolded and without invisible characters. */
export function ExactArguments({
  args,
  onReachEnd,
}: {
  readonly args: Readonly<Record<string, unknown>>;
  /** Called with true when the end has been visible. */
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
    // The box scrolls, so the keyboard must be able to focus it.
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
          {/* Isolated with bdi: right-to-left text must not reorder a name and its value. */}
          {name !== undefined && <bdi dir="ltr">{name}</bdi>}
          {name !== undefined && ': '}
          <bdi dir="ltr">{text}</bdi>
          {hasTrailingComma && ','}
        </div>
      ))}
    </div>
  );
});

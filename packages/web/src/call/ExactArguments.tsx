import { memo, useEffect, useMemo, useRef, useState } from 'react';
import { strings } from '../strings/strings.ts';
import styles from './ExactArguments.module.css';
import { exactChunks, type ExactPiece } from './exactChunks.ts';
import { exactLines } from './exactLines.ts';

/** What is put on the page between two pictures. */
const CHUNKS_AT_ONCE = 10;
/** Deeper lines are not moved further: there would be no room left for them. */
const DEEPEST_INDENT = 12;

/** Arguments as they will be sent: whole, nothing folded, and nothing that cannot be seen. */
export function ExactArguments({
  args,
  onEnd,
}: {
  readonly args: Readonly<Record<string, unknown>>;
  /** Called with true once the end has been in sight. */
  readonly onEnd: (isSeen: boolean) => void;
}) {
  const chunks = useMemo(() => exactChunks(exactLines(args)), [args]);
  const [shown, setShown] = useState(CHUNKS_AT_ONCE);
  const box = useRef<HTMLDivElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const isWhole = shown >= chunks.length;
  useEffect(() => {
    if (isWhole) return undefined;
    const timer = setTimeout(() => setShown(shown + CHUNKS_AT_ONCE));
    return () => clearTimeout(timer);
  }, [isWhole, shown]);
  useEffect(() => {
    if (!isWhole || !end.current) return undefined;
    const watch = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) onEnd(true);
      },
      { root: box.current },
    );
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [isWhole, onEnd]);
  return (
    // It scrolls by itself, so the keyboard must be able to reach it.
    <div
      ref={box}
      className={styles['box']}
      dir="ltr"
      tabIndex={0}
      role="group"
      aria-label={strings.call.approval.arguments}
    >
      {chunks.slice(0, shown).map((chunk, index) => (
        <Chunk key={index} chunk={chunk} />
      ))}
      {isWhole && <div ref={end} className={styles['end']} />}
    </div>
  );
}

const Chunk = memo(function Chunk({ chunk }: { readonly chunk: readonly ExactPiece[] }) {
  return (
    <div className={styles['chunk']}>
      {chunk.map(({ number, depth, name, text, isFollowed }, index) => (
        <div key={index} className={styles['line']} data-line={number}>
          {'  '.repeat(Math.min(depth, DEEPEST_INDENT))}
          {/* Each by itself: letters that run from right to left must not carry a name behind its value. */}
          {name !== undefined && <bdi dir="ltr">{name}</bdi>}
          {name !== undefined && ': '}
          <bdi dir="ltr">{text}</bdi>
          {isFollowed && ','}
        </div>
      ))}
    </div>
  );
});

/** Does something later; what it gives back takes that back. */
export type Schedule = (work: () => void, size: number) => () => void;

export interface TextBatch {
  add(piece: string): void;
  /** Before anything else is shown, so that the order stays. */
  flush(): void;
}

/** Pieces of text come faster than a screen can show them: they are put together until the next picture. */
export function createTextBatch(
  parts: { readonly schedule: Schedule; readonly size: () => number },
  show: (text: string) => void,
): TextBatch {
  let pending = '';
  let takeBack: (() => void) | undefined;

  function flush(): void {
    takeBack?.();
    takeBack = undefined;
    const text = pending;
    pending = '';
    if (text !== '') show(text);
  }

  return {
    add(piece) {
      pending += piece;
      takeBack ??= parts.schedule(flush, parts.size());
    },
    flush,
  };
}

/** A paragraph that has grown so long is read anew less often: reading it takes longer than a picture. */
const SMALL = 1_500;
const LONGEST_WAIT_MS = 400;

export const schedule: Schedule = (work, size) => {
  if (size > SMALL) {
    const timer = setTimeout(work, Math.min(LONGEST_WAIT_MS, size / 20));
    return () => clearTimeout(timer);
  }
  const frame = requestAnimationFrame(work);
  return () => cancelAnimationFrame(frame);
};

/** Does something later; what it gives back takes that back. */
export type Schedule = (callback: () => void, size: number) => () => void;

export interface TextBatch {
  add(chunk: string): void;
  /** Before anything else is shown, so that the order stays. */
  flush(): void;
}

/** Pieces of text come faster than a screen can show them: they are put together until the next picture. */
export function createTextBatch(
  parts: { readonly schedule: Schedule; readonly size: () => number },
  show: (text: string) => void,
): TextBatch {
  let pending = '';
  let cancelScheduled: (() => void) | undefined;

  function flush(): void {
    cancelScheduled?.();
    cancelScheduled = undefined;
    const text = pending;
    pending = '';
    if (text !== '') show(text);
  }

  return {
    add(chunk) {
      pending += chunk;
      cancelScheduled ??= parts.schedule(flush, parts.size());
    },
    flush,
  };
}

/** A paragraph that has grown so long is read anew less often: reading it takes longer than a picture. */
const SMALL_TEXT_LENGTH = 1_500;
const MAX_WAIT_MS = 400;

export const schedule: Schedule = (callback, size) => {
  if (size > SMALL_TEXT_LENGTH) {
    const timer = setTimeout(callback, Math.min(MAX_WAIT_MS, size / 20));
    return () => clearTimeout(timer);
  }
  const frame = requestAnimationFrame(callback);
  return () => cancelAnimationFrame(frame);
};

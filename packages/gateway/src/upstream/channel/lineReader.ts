import { ByteQueue } from '@behalf/kernel';

/** What is kept of a line that is too long: enough to see whose it is. */
const KEPT = 256;
/** A line that is longer than so many of the longest is not waited out. */
const SKIPPED = 4;

export interface LineReaderParts {
  readonly maxBytes: number;
  readonly onLine: (line: string) => void;
  /** A line has grown over the limit, with its beginning; and once more, with its last bytes, when it has ended. */
  readonly onLongLine: (head: string, tail?: string) => void;
}

export interface LineReader {
  /** Takes what arrived and tells every line that is now whole. Throws when a line does not end at all. */
  push(chunk: Buffer): void;
}

/**
 * Cuts a stream of bytes into lines. Every byte is looked at once, and costs no more memory when it comes in small
 * pieces. A line over the limit is skipped: those after it may be for others.
 */
export function createLineReader({ maxBytes, onLine, onLongLine }: LineReaderParts): LineReader {
  const line = new ByteQueue();
  let long: { readonly head: string; tail: Buffer; size: number } | undefined;

  function take(piece: Buffer): void {
    if (!long) {
      line.push(piece);
      if (line.length <= maxBytes) return;
      const bytes = line.take();
      long = { head: bytes.toString('utf8', 0, KEPT), tail: lastOf(bytes), size: bytes.length };
      onLongLine(long.head);
      return;
    }
    long.size += piece.length;
    if (long.size > SKIPPED * maxBytes) throw new RangeError(`A line is longer than ${long.size} bytes`);
    long.tail = lastOf(piece.length < KEPT ? Buffer.concat([long.tail, piece]) : piece);
  }

  function end(): void {
    if (!long) return onLine(line.take().toString('utf8'));
    const { head, tail } = long;
    long = undefined;
    onLongLine(head, tail.toString('utf8'));
  }

  return {
    push(chunk) {
      let from = 0;
      for (;;) {
        const to = chunk.indexOf(10, from);
        if (to === -1) break;
        take(chunk.subarray(from, to));
        from = to + 1;
        end();
      }
      if (from < chunk.length) take(chunk.subarray(from));
    },
  };
}

/** A copy: a part of a buffer keeps the whole of it in memory. */
function lastOf(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-KEPT));
}

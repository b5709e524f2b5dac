import { ByteQueue } from '@behalf/kernel';

/** What is kept of a line that is too long: enough to see whose it is. */
const MAX_EXCERPT_BYTES = 256;
/** A line that is longer than so many of the longest is not waited out. */
const MAX_SKIP_FACTOR = 4;

interface LineReaderParts {
  readonly maxBytes: number;
  readonly onLine: (line: string) => void;
  /** A line has grown over the limit, with its beginning; and once more, with its last bytes, when it has ended. */
  readonly onLongLine: (head: string, tail?: string) => void;
}

interface LineReader {
  /** Takes what arrived and tells every line that is now whole. Throws when a line does not end at all. */
  push(chunk: Buffer): void;
}

/**
 * Cuts a stream of bytes into lines. Every byte is looked at once, and costs no more memory when it comes in small
 * pieces. A line over the limit is skipped: those after it may be for others.
 */
export function createLineReader({ maxBytes, onLine, onLongLine }: LineReaderParts): LineReader {
  const line = new ByteQueue();
  let oversized: { readonly head: string; tail: Buffer; size: number } | undefined;

  function append(piece: Buffer): void {
    if (!oversized) {
      line.push(piece);
      if (line.length <= maxBytes) return;
      const bytes = line.drain();
      oversized = {
        head: bytes.toString('utf8', 0, MAX_EXCERPT_BYTES),
        tail: copyTail(bytes),
        size: bytes.length,
      };
      onLongLine(oversized.head);
      return;
    }
    oversized.size += piece.length;
    if (oversized.size > MAX_SKIP_FACTOR * maxBytes)
      throw new RangeError(`A line is longer than ${oversized.size} bytes`);
    oversized.tail = copyTail(
      piece.length < MAX_EXCERPT_BYTES ? Buffer.concat([oversized.tail, piece]) : piece,
    );
  }

  function endLine(): void {
    if (!oversized) return onLine(line.drain().toString('utf8'));
    const { head, tail } = oversized;
    oversized = undefined;
    onLongLine(head, tail.toString('utf8'));
  }

  return {
    push(chunk) {
      let from = 0;
      for (;;) {
        const to = chunk.indexOf(10, from);
        if (to === -1) break;
        append(chunk.subarray(from, to));
        from = to + 1;
        endLine();
      }
      if (from < chunk.length) append(chunk.subarray(from));
    },
  };
}

/** A copy: a part of a buffer keeps the whole of it in memory. */
function copyTail(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-MAX_EXCERPT_BYTES));
}

/** What can be told of a message of which only the two ends are known. */
type OversizedMessage =
  | { readonly kind: 'response'; readonly id: number | undefined }
  /** A request or a notification of the server: nobody waits for it. */
  | { readonly kind: 'server_message' }
  | { readonly kind: 'unknown' };

const LEADING_MEMBER = /\s*"(jsonrpc|id)"\s*:\s*("[^"\\]{0,64}"|\d{1,15}|null)\s*,/y;
const PAYLOAD_KEY = /\s*"(result|error|method)"\s*:/y;
/** Only the members of the outermost object stand right before the last brace. */
const TRAILING_ID = /,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/**
 * Whose answer a message is that is too long to be read. Servers write the id either before the result or after it;
 * the ids of ours are numbers.
 */
export function parseOversizedMessage(head: string, tail: string | undefined): OversizedMessage {
  let offset = /^\s*\{/.exec(head)?.[0].length;
  if (offset === undefined) return { kind: 'unknown' };
  let id: number | undefined;
  for (;;) {
    LEADING_MEMBER.lastIndex = offset;
    const member = LEADING_MEMBER.exec(head);
    if (!member) break;
    offset = LEADING_MEMBER.lastIndex;
    const [, name, value = ''] = member;
    if (name === 'id' && /^\d/.test(value)) id = Number(value);
  }
  PAYLOAD_KEY.lastIndex = offset;
  const key = PAYLOAD_KEY.exec(head)?.[1];
  if (key === undefined) return { kind: 'unknown' };
  if (key === 'method') return { kind: 'server_message' };
  const last = tail === undefined ? undefined : TRAILING_ID.exec(tail)?.[1];
  return { kind: 'response', id: id ?? (last === undefined ? undefined : Number(last)) };
}

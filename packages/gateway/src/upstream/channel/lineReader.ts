import { ByteQueue } from '@behalf/kernel';

/** Bytes kept of each end of an oversized line, enough to find the id of the message. */
const MAX_EXCERPT_BYTES = 256;
/** A line longer than this multiple of `maxBytes` fails the channel instead of being skipped. */
const MAX_SKIP_FACTOR = 4;

/**
 * Splits a stream of bytes into lines. Scans every byte once; memory does not depend on the size of the chunks. A line
 * over the limit is skipped, because later lines may belong to other requests.
 */
export function createLineReader({
  maxBytes,
  onLine,
  onLongLine,
}: {
  readonly maxBytes: number;
  readonly onLine: (line: string) => void;
  /** Called with the head of a line that exceeds the limit, and again with its tail when the line ends. */
  readonly onLongLine: (head: string, tail?: string) => void;
}) {
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
    /** Throws if a line exceeds the limit many times over. */
    push(chunk: Buffer): void {
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

/** Copies the bytes: a subarray would keep the whole buffer in memory. */
function copyTail(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-MAX_EXCERPT_BYTES));
}

/** The part of an oversized message that its two ends reveal. */
type OversizedMessage =
  | { readonly kind: 'response'; readonly id: number | undefined }
  /** A request or a notification of the server. No caller waits for it. */
  | { readonly kind: 'server_message' }
  | { readonly kind: 'unknown' };

const LEADING_MEMBER = /\s*"(jsonrpc|id)"\s*:\s*("[^"\\]{0,64}"|\d{1,15}|null)\s*,/y;
const PAYLOAD_KEY = /\s*"(result|error|method)"\s*:/y;
/** Before the last brace there can only be members of the outermost object. */
const TRAILING_ID = /,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/**
 * Finds the id of an oversized response. Servers write the id before or after the result. Ids of our requests are
 * numbers.
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

import { GatewayError } from '../errors/gatewayError.ts';
import { segmentId } from './segment.ts';

/** The last event that was shown: go on with those before it in its segment, then with the segments after that one. */
export interface Position {
  readonly writer: string;
  readonly seq: number;
  readonly lastAt: number;
  /** The line; the segment's number of lines when none of it was shown. */
  readonly line: number;
}

/** Opaque to callers. It says where, never what may be seen: it needs no signature. */
export function writeCursor({ writer, seq, lastAt, line }: Position): string {
  return Buffer.from(JSON.stringify([writer, seq, lastAt, line])).toString('base64url');
}

export function readCursor(cursor: string): Position {
  const [writer, seq, lastAt, line, ...rest] = fields(cursor);
  if (typeof writer !== 'string' || rest.length > 0) throw invalid();
  if (!/^[\w-]{1,64}$/.test(writer) || !isCount(seq) || !isCount(lastAt) || !isCount(line)) throw invalid();
  return { writer, seq, lastAt, line };
}

export function placeOf({ writer, seq, lastAt }: Position): { lastAt: number; id: string } {
  return { lastAt, id: segmentId(writer, seq) };
}

function fields(cursor: string): unknown[] {
  try {
    const found: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function invalid(): GatewayError {
  return new GatewayError('REQUEST_INVALID', {
    errors: [{ path: 'cursor', code: 'custom', message: 'is none that this gateway gave' }],
  });
}

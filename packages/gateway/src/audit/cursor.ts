import { GatewayError } from '../errors/gatewayError.ts';
import { segmentId } from './segment.ts';

/** The last event that was shown: go on with those before it in its segment, then with the segments after that one. */
export interface AuditPosition {
  readonly writer: string;
  readonly seq: number;
  readonly lastAt: number;
  /** The line; the segment's number of lines when none of it was shown. */
  readonly line: number;
}

/** Opaque to callers. It says where, never what may be seen: it needs no signature. */
export function writeAuditCursor({ writer, seq, lastAt, line }: AuditPosition): string {
  return Buffer.from(JSON.stringify([writer, seq, lastAt, line])).toString('base64url');
}

export function readAuditCursor(cursor: string): AuditPosition {
  const [writer, seq, lastAt, line, ...rest] = decodeCursor(cursor);
  if (typeof writer !== 'string' || rest.length > 0) throw invalidCursor();
  if (!/^[\w-]{1,64}$/.test(writer) || !isCount(seq) || !isCount(lastAt) || !isCount(line))
    throw invalidCursor();
  return { writer, seq, lastAt, line };
}

export function toPageStart({ writer, seq, lastAt }: AuditPosition): { lastAt: number; id: string } {
  return { lastAt, id: segmentId(writer, seq) };
}

function decodeCursor(cursor: string): unknown[] {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(decoded) ? decoded : [];
  } catch {
    return [];
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function invalidCursor(): GatewayError {
  return new GatewayError('REQUEST_INVALID', {
    errors: [{ path: 'cursor', code: 'custom', message: 'is not a valid cursor' }],
  });
}

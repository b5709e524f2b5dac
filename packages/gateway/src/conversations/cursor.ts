import { GatewayError } from '../errors/gatewayError.ts';
import type { ConversationPosition } from '../ports/index.ts';

/** Opaque to callers. It says where, never whose: it needs no signature. */
export function writeConversationCursor({ updatedAt, id }: ConversationPosition): string {
  return Buffer.from(JSON.stringify([updatedAt, id])).toString('base64url');
}

export function readConversationCursor(cursor: string): ConversationPosition {
  const [updatedAt, id, ...rest] = decodeFields(cursor);
  if (!Number.isSafeInteger(updatedAt) || typeof id !== 'string' || rest.length > 0) throw invalidCursor();
  return { updatedAt: updatedAt as number, id };
}

function decodeFields(cursor: string): unknown[] {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(decoded) ? decoded : [];
  } catch {
    return [];
  }
}

function invalidCursor(): GatewayError {
  return new GatewayError('REQUEST_INVALID', {
    errors: [{ path: 'after', code: 'custom', message: 'is not a valid cursor' }],
  });
}

import { GatewayError } from '../errors/gatewayError.ts';
import type { ConversationPlace } from '../ports/index.ts';

/** Opaque to callers. It says where, never whose: it needs no signature. */
export function writeCursor({ updatedAt, id }: ConversationPlace): string {
  return Buffer.from(JSON.stringify([updatedAt, id])).toString('base64url');
}

export function readCursor(cursor: string): ConversationPlace {
  const [updatedAt, id, ...rest] = fields(cursor);
  if (!Number.isSafeInteger(updatedAt) || typeof id !== 'string' || rest.length > 0) throw invalid();
  return { updatedAt: updatedAt as number, id };
}

function fields(cursor: string): unknown[] {
  try {
    const found: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

function invalid(): GatewayError {
  return new GatewayError('REQUEST_INVALID', {
    errors: [{ path: 'after', code: 'custom', message: 'is none that this gateway gave' }],
  });
}

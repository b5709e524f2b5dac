import { createHash } from 'node:crypto';

/** Clients that we know count, or send a UUID. */
const MAX_RAW_ID_LENGTH = 256;

/** Under which a cancelled request is told to whoever runs it. It names a slot of the store, and an id may be as long as a body. */
export function cancellationName(id: string | number): string {
  if (typeof id === 'number') return `cancel:${id}`;
  if (id.length <= MAX_RAW_ID_LENGTH) return `cancel:"${id}`;
  return `cancel:#${createHash('sha256').update(id).digest('base64url')}`;
}

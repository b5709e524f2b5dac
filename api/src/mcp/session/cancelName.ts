import { createHash } from 'node:crypto';

/** Clients that we know count, or send a UUID. */
const LONGEST_AS_IT_IS = 256;

/** Under which a cancelled request is told to whoever runs it. It names a slot of the store, and an id may be as long as a body. */
export function cancelName(id: string | number): string {
  if (typeof id === 'number') return `cancel:${id}`;
  if (id.length <= LONGEST_AS_IT_IS) return `cancel:"${id}`;
  return `cancel:#${createHash('sha256').update(id).digest('base64url')}`;
}

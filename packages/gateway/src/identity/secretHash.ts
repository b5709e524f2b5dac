import { createHash } from 'node:crypto';

/** How a random secret of ours (cookie, link) is known to a store: who reads the store cannot use it. */
export function secretHash(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

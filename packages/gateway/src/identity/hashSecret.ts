import { hash } from 'node:crypto';

/** How a random secret of ours (cookie, link) is known to a store: who reads the store cannot use it. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

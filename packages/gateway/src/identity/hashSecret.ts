import { hash } from 'node:crypto';
import type { Random } from '@behalf/kernel';

/** A random secret of 256 bits for a cookie, a link or an API key. */
export function generateSecret(random: Random): string {
  return Buffer.from(random.bytes(32)).toString('base64url');
}

/** The form in which a store keeps a random secret. A reader of the store cannot use it. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

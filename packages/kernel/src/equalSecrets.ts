import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares secrets without telling by time where they differ, nor how long they are. */
export function areSecretsEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

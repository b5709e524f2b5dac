import { createHash } from 'node:crypto';
import { areSecretsEqual, type Random } from '@behalf/kernel';

const SECRET_BYTES = 32;

/** `state`, verifier, nonce and what a cookie holds: 256 bits that nobody can guess. */
export function createFlowSecret(random: Random): string {
  return Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url');
}

/** All that the store knows of one. */
export function hashFlowSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

export function matchesFlowSecret(hash: string | null, secret: string | null): boolean {
  return hash !== null && secret !== null && areSecretsEqual(hash, hashFlowSecret(secret));
}

/** RFC 7636, section 4.2. */
export function s256(codeVerifier: string): string {
  return createHash('sha256').update(codeVerifier).digest('base64url');
}

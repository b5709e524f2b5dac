import { createHash } from 'node:crypto';
import { toFields, nonSecurityKeys, type Fields } from './canonicalFields.ts';
import { maskSecrets } from './secretFields.ts';
import { stableStringify } from './stableStringify.ts';

/** Who last decided where calls of a server lead and with which credential, and whether that still holds. */
export interface SecurityDecision {
  /** Null: what the operator decided still stands. */
  readonly decidedBy: string | null;
  /** False: the record says another thing than this person decided. */
  readonly isIntact: boolean;
}

/** The fields that are decided about, as they were written. */
export function pickSecurityFields(definition: unknown): Fields {
  return Object.fromEntries(
    Object.entries(toFields(definition)).filter(([key]) => !nonSecurityKeys.has(key)),
  );
}

/**
 * A hash over the person and what they decided. Without the secrets: it stands in the store in clear, where a short one
 * could be guessed. Without defaults: a new one must not make every server look tampered with.
 */
export function hashSecurityDecision(decidedBy: string, definition: unknown): string {
  return createHash('sha256')
    .update(stableStringify([decidedBy, maskSecrets(pickSecurityFields(definition))]))
    .digest('base64url');
}

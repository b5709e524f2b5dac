import { createHash } from 'node:crypto';
import { fieldsOf, freeKeys, type Fields } from './canonical.ts';
import { maskSecrets } from './secretFields.ts';
import { stableText } from './stableText.ts';

/** Who last decided where calls of a server lead and with which credential, and whether that still holds. */
export interface Secured {
  /** Null: what the operator decided still stands. */
  readonly by: string | null;
  /** False: the record says another thing than this person decided. */
  readonly intact: boolean;
}

/** The fields that are decided about, as they were written. */
export function securityFields(definition: unknown): Fields {
  return Object.fromEntries(Object.entries(fieldsOf(definition)).filter(([key]) => !freeKeys.has(key)));
}

/**
 * A hash over the person and what they decided. Without the secrets: it stands in the store in clear, where a short one
 * could be guessed. Without defaults: a new one must not make every server look tampered with.
 */
export function securedHash(by: string, definition: unknown): string {
  return createHash('sha256')
    .update(stableText([by, maskSecrets(securityFields(definition))]))
    .digest('base64url');
}

import { finding, secretMask } from '@behalf/contracts';
import { fieldsOf, isMapping, type Fields } from '../registry/canonical.ts';
import type { SecretField } from '../registry/secretFields.ts';
import { invalid } from './readInput.ts';

/** Shown as they are. Whatever is not listed is masked, also what a definition may say one day. */
const shown: ReadonlySet<string> = new Set([
  'type',
  'url',
  'title',
  'description',
  'iconPath',
  'startup',
  'timeout',
  'initTimeout',
  'sseReadTimeout',
  'chatMenu',
  'serverInstructions',
  'requiresOAuth',
  'customUserVars',
  'auth',
  'exclusive',
  'access',
  'tools',
  'trustAnnotations',
  'idempotentTools',
  'era',
  'relay',
  'obo',
  'caFile',
]);
/** Sections of which only this is a secret. */
const sections: Readonly<Record<string, string>> = { apiKey: 'key', oauth: 'client_secret' };

/** An override as administrators read it back: they may send it again as it is, and the secrets stay. */
export function maskOverride(definition: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fieldsOf(definition)).map(([key, value]) => [key, maskedField(key, value)]),
  );
}

function maskedField(key: string, value: unknown): unknown {
  // `null` takes a field of the file away, and is no secret.
  if (shown.has(key) || value === null) return value;
  const secret = sections[key];
  if (secret === undefined) return masked(value);
  const section = fieldsOf(value);
  return typeof section[secret] === 'string' ? { ...section, [secret]: secretMask } : section;
}

function masked(value: unknown): unknown {
  if (value === null) return null;
  if (!isMapping(value)) return secretMask;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, masked(item)]));
}

export interface FilledOverride {
  readonly definition: Fields;
  /** Which secrets are the stored ones. */
  readonly kept: readonly SecretField[];
}

/** A secret that only an operator can name goes where the headers go. */
function secretFieldOf(key: string | undefined): SecretField {
  if (key === 'apiKey') return 'apiKey.key';
  // Those that are sent to the authorization server are bound to it.
  return key === 'oauth' || key === 'oauth_headers' ? 'oauth.client_secret' : 'headers';
}

/** Puts what is stored in the place of masks. */
export function fillOverride(input: Fields, stored: unknown): FilledOverride {
  const kept = new Set<SecretField>();
  const fill = (value: unknown, before: unknown, path: readonly string[]): unknown => {
    if (value === secretMask) {
      if (before === undefined || before === null)
        throw invalid([finding(path, 'mask', 'is a mask, and no secret is known')]);
      kept.add(secretFieldOf(path[0]));
      return before;
    }
    if (!isMapping(value)) return value;
    const known = fieldsOf(before);
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, fill(item, known[key], [...path, key])]),
    );
  };
  const definition = fieldsOf(fill(input, stored, []));
  return { definition, kept: [...kept] };
}

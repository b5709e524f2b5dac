import { createFinding, secretMask } from '@behalf/contracts';
import { toFields, isMapping, type Fields } from '../registry/canonicalFields.ts';
import type { SecretField } from '../registry/secretFields.ts';
import { createConfigError } from './readInput.ts';

/** Shown as they are. Whatever is not listed is masked, also what a definition may say one day. */
const visibleKeys: ReadonlySet<string> = new Set([
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
const sectionSecretNames: Readonly<Record<string, string>> = { apiKey: 'key', oauth: 'client_secret' };

/** An override as administrators read it back: they may send it again as it is, and the secrets stay. */
export function maskOverride(definition: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(toFields(definition)).map(([key, value]) => [key, maskField(key, value)]),
  );
}

function maskField(key: string, value: unknown): unknown {
  // `null` takes a field of the file away, and is no secret.
  if (visibleKeys.has(key) || value === null) return value;
  const secretName = sectionSecretNames[key];
  if (secretName === undefined) return maskValue(value);
  const section = toFields(value);
  return typeof section[secretName] === 'string' ? { ...section, [secretName]: secretMask } : section;
}

function maskValue(value: unknown): unknown {
  if (value === null) return null;
  if (!isMapping(value)) return secretMask;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, maskValue(item)]));
}

export interface RestoredOverride {
  readonly definition: Fields;
  /** Which secrets are the stored ones. */
  readonly retainedSecrets: readonly SecretField[];
}

/** A secret that only an operator can name goes where the headers go. */
function getSecretField(key: string | undefined): SecretField {
  if (key === 'apiKey') return 'apiKey.key';
  // Those that are sent to the authorization server are bound to it.
  return key === 'oauth' || key === 'oauth_headers' ? 'oauth.client_secret' : 'headers';
}

/** Puts what is stored in the place of masks. */
export function restoreOverrideSecrets(input: Fields, stored: unknown): RestoredOverride {
  const retained = new Set<SecretField>();
  const restoreMask = (value: unknown, storedValue: unknown, path: readonly string[]): unknown => {
    if (value === secretMask) {
      if (storedValue === undefined || storedValue === null)
        throw createConfigError([createFinding(path, 'mask', 'is a mask, but no secret is stored')]);
      retained.add(getSecretField(path[0]));
      return storedValue;
    }
    if (!isMapping(value)) return value;
    const storedFields = toFields(storedValue);
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, restoreMask(item, storedFields[key], [...path, key])]),
    );
  };
  const definition = toFields(restoreMask(input, stored, []));
  return { definition, retainedSecrets: [...retained] };
}

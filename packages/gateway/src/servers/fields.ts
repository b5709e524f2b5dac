import { type Finding, type Path, checkServer, formatPath, parseUrl, scopeList } from '@behalf/contracts';
import { isObject, stableStringify } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';

/** A definition as plain data, as it was written. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * Fields without security relevance: texts and the icon. Every other field, including fields added in the future, can
 * decide where calls go and with which credential.
 */
export const nonSecurityKeys: ReadonlySet<string> = new Set(['title', 'description', 'iconPath']);

/** Lists of `oauth` whose order has no meaning. */
const unorderedLists: ReadonlySet<string> = new Set([
  'grant_types_supported',
  'token_endpoint_auth_methods_supported',
  'response_types_supported',
  'code_challenge_methods_supported',
  'revocation_endpoint_auth_methods_supported',
]);
const urlKeys: ReadonlySet<string> = new Set([
  'url',
  'authorization_url',
  'token_url',
  'revocation_endpoint',
  'redirect_uri',
]);

/**
 * The canonical form of a definition: explicit defaults, sorted sets, lower-case header names, normalized URLs. For
 * comparisons only, never for storage.
 */
export function toCanonicalFields(definition: unknown): Fields {
  const fields = toFields(definition);
  // An invalid definition has no compiled form. Its raw fields equal no valid definition.
  const { server = {} } = checkServer(fields, []);
  return Object.fromEntries(
    Object.entries({ ...fields, ...server }).map(([key, value]) => [key, canonicalize(key, value)]),
  );
}

function canonicalize(key: string, value: unknown): unknown {
  if (urlKeys.has(key)) return normalizeUrl(value);
  if (key === 'custom_header') return typeof value === 'string' ? value.toLowerCase() : value;
  if (key === 'scopes') return typeof value === 'string' ? scopeList(value) : value;
  if (unorderedLists.has(key) && Array.isArray(value)) return [...new Set(value.map(stableStringify))].sort();
  if (key === 'headers') {
    return Object.fromEntries(
      Object.entries(toFields(value)).map(([name, item]) => [name.toLowerCase(), item]),
    );
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([nestedKey, item]) => [nestedKey, canonicalize(nestedKey, item)]),
  );
}

/** Leaves a URL with a placeholder unchanged: the URL parser would encode the placeholder. */
export function normalizeUrl(value: unknown): unknown {
  return typeof value === 'string' && !hasPlaceholder(value) ? (parseUrl(value)?.href ?? value) : value;
}

export function hasPlaceholder(text: unknown): boolean {
  return typeof text === 'string' && text.includes('{{');
}

/** The names of the fields whose canonical values differ. */
export function findChangedFields(before: unknown, after: unknown): string[] {
  const [a, b] = [toCanonicalFields(before), toCanonicalFields(after)];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].filter((key) => stableStringify(a[key]) !== stableStringify(b[key])).sort();
}

/** The changed fields that are security relevant. */
export function findSecurityChanges(before: unknown, after: unknown): string[] {
  return findChangedFields(before, after).filter((key) => !nonSecurityKeys.has(key));
}

/**
 * Applies a merge patch (RFC 7396): mappings are merged recursively, `null` removes a key, any other value replaces the
 * old one. Does not modify its inputs.
 */
export function mergeDefinition(base: unknown, override: unknown): unknown {
  if (!isObject(base) || !isObject(override)) return override;
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(override)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergeDefinition(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

/** Removes every key whose value is `null`, recursively. In a merge patch, `null` means that the field is absent. */
export function withoutNulls(definition: Fields): Fields {
  return Object.fromEntries(
    Object.entries(definition).flatMap(([key, value]) => {
      if (value === null) return [];
      return [[key, isObject(value) ? withoutNulls(value) : value]];
    }),
  );
}

/** Applies a check to all nested texts. */
export function findTextProblems(
  value: unknown,
  path: Path,
  check: (text: string, path: Path) => Finding[],
): Finding[] {
  if (typeof value === 'string') return check(value, path);
  if (Array.isArray(value))
    return value.flatMap((item, index) => findTextProblems(item, [...path, index], check));
  return Object.entries(toFields(value)).flatMap(([key, item]) =>
    findTextProblems(item, [...path, key], check),
  );
}

export function toFields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** Limits the size of the error response. */
const MAX_ERRORS = 50;

/** MCP_CONFIG_INVALID with the findings as field errors. */
export function createConfigError(findings: readonly Finding[]): GatewayError {
  return new GatewayError('MCP_CONFIG_INVALID', {
    errors: findings
      .slice(0, MAX_ERRORS)
      .map(({ path, ...rest }) => ({ ...rest, path: formatPath(['config', ...path]) })),
  });
}

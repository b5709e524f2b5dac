export type Claims = Readonly<Record<string, unknown>>;

const MAX_VALUES = 200;
const MAX_VALUE_LENGTH = 256;

/** By its literal name first: names such as `https://example.com/roles` have dots of their own. Then as a path. */
export function readClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const step of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Claims)[step];
  }
  return value;
}

/** One text or a list of them; null when it is something else, or more than anybody should have. */
export function readTextClaims(claims: Claims, name: string): readonly string[] | null {
  const value = readClaim(claims, name) ?? [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > MAX_VALUES) return null;
  return list.every((item) => typeof item === 'string' && item !== '' && item.length <= MAX_VALUE_LENGTH)
    ? (list as readonly string[])
    : null;
}

/** A text to show: empty when it is none, is too long, or could write lines of its own into a log or a header. */
export function readTextClaim(claims: Claims, name: string, maxLength = MAX_VALUE_LENGTH): string {
  const value = readClaim(claims, name);
  return typeof value === 'string' && value.length <= maxLength && !/\p{C}/u.test(value) ? value.trim() : '';
}

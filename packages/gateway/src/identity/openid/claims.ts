export type Claims = Readonly<Record<string, unknown>>;

const MOST_VALUES = 200;
const LONGEST_VALUE = 256;

/** By its literal name first: names such as `https://example.com/roles` have dots of their own. Then as a path. */
export function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const step of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Claims)[step];
  }
  return value;
}

/** One text or a list of them; null when it is something else, or more than anybody should have. */
export function claimTexts(claims: Claims, name: string): readonly string[] | null {
  const value = claimAt(claims, name) ?? [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > MOST_VALUES) return null;
  return list.every((item) => typeof item === 'string' && item !== '' && item.length <= LONGEST_VALUE)
    ? (list as readonly string[])
    : null;
}

/** A text to show: empty when it is none, is too long, or could write lines of its own into a log or a header. */
export function claimText(claims: Claims, name: string, longest = LONGEST_VALUE): string {
  const value = claimAt(claims, name);
  return typeof value === 'string' && value.length <= longest && !/\p{C}/u.test(value) ? value.trim() : '';
}

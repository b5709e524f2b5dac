/** Whether a parsed JSON value is an object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** More than any accepted input. Deeper values go to `JSON.stringify`, so that the recursion cannot overflow the stack. */
const MAX_DEPTH = 200;

/** JSON with sorted keys. Distinguishes a missing value from `null`. */
export function stableStringify(value: unknown): string {
  return value === undefined ? 'undefined' : stringifyValue(value, 0);
}

function stringifyValue(value: unknown, depth: number): string {
  // Like `JSON.stringify` for an undefined list item.
  if (value === undefined) return 'null';
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => stringifyValue(item, depth + 1)).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${stringifyValue(item, depth + 1)}`);
  return `{${members.join(',')}}`;
}

/** Deeper than anything we take in may be. What lies below is written as it stands, so that nothing overflows the stack. */
const MAX_DEPTH = 200;

/** JSON whose text does not depend on the order of keys. What is not there reads unlike `null`. */
export function stableStringify(value: unknown): string {
  return value === undefined ? 'undefined' : stringifyValue(value, 0);
}

function stringifyValue(value: unknown, depth: number): string {
  // As JSON has it in a list.
  if (value === undefined) return 'null';
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => stringifyValue(item, depth + 1)).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${stringifyValue(item, depth + 1)}`);
  return `{${members.join(',')}}`;
}

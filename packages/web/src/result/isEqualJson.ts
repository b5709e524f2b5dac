import { isRecord } from './isRecord.ts';

/** Beyond this two values are not compared: they count as different, and both are shown. */
const MAX_COMPARED_VALUES = 50_000;
const MAX_COMPARED_DEPTH = 100;

/** Whether two values of JSON say the same, in whatever order their names stand. */
export function isEqualJson(one: unknown, other: unknown): boolean {
  let remaining = MAX_COMPARED_VALUES;

  function isEqual(a: unknown, b: unknown, depth: number): boolean {
    remaining -= 1;
    if (remaining < 0 || depth > MAX_COMPARED_DEPTH) return false;
    if (Array.isArray(a) && Array.isArray(b)) {
      return a.length === b.length && a.every((item, index) => isEqual(item, b[index], depth + 1));
    }
    if (isRecord(a) && isRecord(b)) {
      const names = Object.keys(a);
      return (
        names.length === Object.keys(b).length &&
        names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name], depth + 1))
      );
    }
    return a === b;
  }

  return isEqual(one, other, 0);
}

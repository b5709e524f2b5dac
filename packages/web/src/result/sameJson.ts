import { isRecord } from './isRecord.ts';

/** Beyond this two values are not compared: they count as different, and both are shown. */
const MOST_PARTS = 50_000;
const DEEPEST = 100;

/** Whether two values of JSON say the same, in whatever order their names stand. */
export function sameJson(one: unknown, other: unknown): boolean {
  let left = MOST_PARTS;

  function same(a: unknown, b: unknown, depth: number): boolean {
    left -= 1;
    if (left < 0 || depth > DEEPEST) return false;
    if (Array.isArray(a) && Array.isArray(b)) {
      return a.length === b.length && a.every((item, index) => same(item, b[index], depth + 1));
    }
    if (isRecord(a) && isRecord(b)) {
      const names = Object.keys(a);
      return (
        names.length === Object.keys(b).length &&
        names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name], depth + 1))
      );
    }
    return a === b;
  }

  return same(one, other, 0);
}

import { Binary, Long, ObjectId, serialize } from 'bson';
import { notInManifest } from './serverError.ts';

export type Doc = Record<string, unknown>;

export function isDoc(value: unknown): value is Doc {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** MongoDB's order of types; a value that is not there sorts before everything. */
const TYPE_ORDER = [
  'missing',
  'null',
  'number',
  'string',
  'object',
  'array',
  'binary',
  'objectId',
  'boolean',
  'date',
];

export function typeOfValue(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (value instanceof Date) return 'date';
  if (value instanceof ObjectId) return 'objectId';
  if (value instanceof Binary) return 'binary';
  if (Long.isLong(value)) return 'number';
  if (isDoc(value)) return 'object';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'unknown';
}

/** Throws unless every value within is of a type this double compares and stores rightly. */
export function checkStorable(value: unknown, path = 'document'): void {
  const type = typeOfValue(value);
  if (type === 'unknown' || type === 'missing') throw notInManifest(`the value type at '${path}'`);
  if (type === 'array') (value as unknown[]).forEach((item, i) => checkStorable(item, `${path}.${i}`));
  if (type === 'object') {
    for (const [key, item] of Object.entries(value as Doc)) checkStorable(item, `${path}.${key}`);
  }
}

/** BSON comparison over all types: what sorting and expressions use. Query operators compare within one type only. */
export function compareValues(a: unknown, b: unknown): number {
  const typeA = typeOfValue(a);
  const typeB = typeOfValue(b);
  if (typeA !== typeB) return Math.sign(TYPE_ORDER.indexOf(typeA) - TYPE_ORDER.indexOf(typeB));
  switch (typeA) {
    case 'missing':
    case 'null':
      return 0;
    case 'number':
    case 'boolean':
    case 'date':
      return Math.sign(Number(a) - Number(b));
    case 'string':
      return Math.sign(Buffer.compare(Buffer.from(a as string), Buffer.from(b as string)));
    case 'array':
      return compareLists(a as unknown[], b as unknown[], compareValues);
    case 'object':
      return compareLists(
        Object.entries(a as Doc),
        Object.entries(b as Doc),
        ([keyA, itemA], [keyB, itemB]) => {
          const type = Math.sign(
            TYPE_ORDER.indexOf(typeOfValue(itemA)) - TYPE_ORDER.indexOf(typeOfValue(itemB)),
          );
          return type || compareValues(keyA, keyB) || compareValues(itemA, itemB);
        },
      );
    default:
      return Math.sign(Buffer.compare(serialize({ v: a }), serialize({ v: b })));
  }
}

function compareLists<T>(a: readonly T[], b: readonly T[], compare: (a: T, b: T) => number): number {
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const order = compare(a[i] as T, b[i] as T);
    if (order !== 0) return order;
  }
  return Math.sign(a.length - b.length);
}

/** Equal values, and only they, have the same text: for maps of documents and index entries. */
export function keyOfValue(value: unknown): string {
  return Buffer.from(serialize({ v: value ?? null })).toString('base64');
}

export function sameDocument(a: Doc, b: Doc): boolean {
  return Buffer.compare(serialize(a), serialize(b)) === 0;
}

import { Binary, Long, ObjectId, serialize } from 'bson';
import { ServerError, notInManifest } from './serverError.ts';

export type Doc = Record<string, unknown>;

export function isDoc(value: unknown): value is Doc {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** MongoDB's order of types. A missing value sorts first. */
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

/** Throws if a value has a type that this double does not compare and store correctly. */
export function checkStorable(value: unknown, path = 'document'): void {
  const type = typeOfValue(value);
  if (type === 'unknown' || type === 'missing') throw notInManifest(`the value type at '${path}'`);
  if (type === 'array') (value as unknown[]).forEach((item, i) => checkStorable(item, `${path}.${i}`));
  if (type === 'object') {
    for (const [key, item] of Object.entries(value as Doc)) checkStorable(item, `${path}.${key}`);
  }
}

/** BSON comparison across types, for sorting and expressions. Query operators compare within one type. */
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

/** A text that is equal exactly for equal values, for maps of documents and index entries. */
export function keyOfValue(value: unknown): string {
  return Buffer.from(serialize({ v: value ?? null })).toString('base64');
}

export function sameDocument(a: Doc, b: Doc): boolean {
  return Buffer.compare(serialize(a), serialize(b)) === 0;
}

/** The value at a dotted path. Paths through arrays are rejected. */
export function getPath(doc: Doc, path: string): unknown {
  let value: unknown = doc;
  for (const step of splitPath(path)) {
    if (Array.isArray(value)) throw notInManifest(`the path '${path}' through an array`);
    if (!isDoc(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

/** `overScalars`: a pipeline's $set replaces a scalar on the path with an object; an update operator fails. */
export function setPath(doc: Doc, path: string, value: unknown, overScalars = false): void {
  const [parent, last] = resolveParent(doc, path, overScalars ? 'replace' : 'create');
  if (parent) parent[last] = value;
}

export function unsetPath(doc: Doc, path: string): void {
  const [parent, last] = resolveParent(doc, path, 'look');
  if (parent) Reflect.deleteProperty(parent, last);
}

function resolveParent(doc: Doc, path: string, mode: 'look' | 'create' | 'replace'): [Doc | null, string] {
  const segments = splitPath(path);
  const last = segments.pop() as string;
  let parent = doc;
  for (const step of segments) {
    const next = Object.hasOwn(parent, step) ? parent[step] : undefined;
    if (isDoc(next)) parent = next;
    else if (Array.isArray(next)) throw notInManifest(`the path '${path}' through an array`);
    else if (mode === 'look') return [null, last];
    else if (next !== undefined && mode === 'create') {
      throw new ServerError(28, 'PathNotViable', `Cannot create field '${step}' in path '${path}'`);
    } else {
      const created: Doc = {};
      parent[step] = created;
      parent = created;
    }
  }
  return [parent, last];
}

function splitPath(path: string): string[] {
  const segments = path.split('.');
  for (const step of segments) {
    if (step === '')
      throw new ServerError(56, 'EmptyFieldName', `The path '${path}' has an empty field name`);
    if (step === '__proto__' || step.startsWith('$')) throw notInManifest(`the path '${path}'`);
  }
  return segments;
}

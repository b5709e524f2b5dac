import { compileFilter, type Matcher } from './filter.ts';
import { manifest } from './manifest.ts';
import { getPath } from './paths.ts';
import { badValue, duplicateKey, notInManifest, ServerError } from './serverError.ts';
import { isDoc, keyOfValue, sameDocument, type Doc } from './values.ts';

export interface Index {
  readonly name: string;
  readonly key: Doc;
  readonly spec: Doc;
  readonly unique: boolean;
  readonly expireAfterSeconds: number | null;
  /** Documents outside the partial filter are not in the index. */
  readonly covers: Matcher;
  /** Unique indexes only: the key's text -> whose it is. */
  readonly owners: Map<string, string>;
}

export function parseIndex(spec: unknown, now: Date): Index {
  if (!isDoc(spec) || !isDoc(spec['key']) || typeof spec['name'] !== 'string') {
    throw badValue('An index needs a key and a name');
  }
  for (const field of Object.keys(spec)) {
    if (!(manifest.indexFields as readonly string[]).includes(field))
      throw notInManifest(`the index option '${field}'`);
  }
  const key = spec['key'];
  for (const direction of Object.values(key)) {
    if (direction !== 1 && direction !== -1)
      throw notInManifest(`an index of kind ${JSON.stringify(direction)}`);
  }
  const ttl = spec['expireAfterSeconds'];
  if (ttl !== undefined && (typeof ttl !== 'number' || Object.keys(key).length !== 1)) {
    throw badValue('A TTL index has one field and a number of seconds');
  }
  return {
    name: spec['name'],
    key,
    spec: { v: 2, ...spec },
    unique: spec['unique'] === true || spec['name'] === '_id_',
    expireAfterSeconds: ttl ?? null,
    covers: compileFilter(spec['partialFilterExpression'] ?? {}, now),
    owners: new Map(),
  };
}

export function idIndex(now: Date): Index {
  return parseIndex({ key: { _id: 1 }, name: '_id_' }, now);
}

/** Refuses a second definition under one name, or of one key, as the server does; true when it is there already. */
export function isAlreadyDefined(indexes: readonly Index[], requested: Index): boolean {
  for (const index of indexes) {
    const sameKey = sameDocument(index.key, requested.key);
    if (index.name === requested.name) {
      if (sameKey && sameDocument(options(index.spec), options(requested.spec))) return true;
      const text = `An existing index has the same name as the requested index: ${requested.name}`;
      throw new ServerError(86, 'IndexKeySpecsConflict', text);
    }
    if (sameKey) {
      throw new ServerError(
        85,
        'IndexOptionsConflict',
        `Index already exists with a different name: ${index.name}`,
      );
    }
  }
  return false;
}

/** The order in which a client wrote the options means nothing. */
function options(spec: Doc): Doc {
  const { key: _key, name: _name, ...rest } = spec;
  return Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The unique entries a document would have; throws when one of them belongs to another document. */
export function claimEntries(
  indexes: readonly Index[],
  doc: Doc,
  id: string,
  namespace: string,
): Map<Index, string> {
  const entries = new Map<Index, string>();
  for (const index of indexes) {
    if (!index.unique || !index.covers(doc)) continue;
    const values = Object.keys(index.key).map((path) => [path, getPath(doc, path) ?? null] as const);
    if (values.some(([, value]) => Array.isArray(value))) throw notInManifest('a unique index over an array');
    const entry = keyOfValue(values.map(([, value]) => value));
    const owner = index.owners.get(entry);
    if (owner !== undefined && owner !== id) {
      throw duplicateKey(namespace, index.name, index.key, Object.fromEntries(values));
    }
    entries.set(index, entry);
  }
  return entries;
}

/** Whether the TTL monitor would remove the document at `now`. */
export function isExpired(indexes: readonly Index[], doc: Doc, now: number): boolean {
  return indexes.some((index) => {
    if (index.expireAfterSeconds === null || !index.covers(doc)) return false;
    const value = getPath(doc, Object.keys(index.key)[0] as string);
    return value instanceof Date && value.getTime() + index.expireAfterSeconds * 1000 <= now;
  });
}

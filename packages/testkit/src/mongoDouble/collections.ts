import { type Matcher, compileFilter } from './filter.ts';
import { manifest } from './manifest.ts';
import { ServerError, badValue, duplicateKey, notInManifest } from './serverError.ts';
import { type Doc, getPath, isDoc, keyOfValue, sameDocument } from './values.ts';

/** All databases of the test double. As in MongoDB, a database exists from its first write. */
export interface Databases {
  find(db: string, name: string): Collection | undefined;
  ensure(db: string, name: string): Collection;
  names(db: string): string[];
  drop(db: string, name: string): boolean;
  dropAll(db: string): void;
  /** Removes all documents that a TTL index marks as expired. */
  removeExpired(now: number): number;
}

export function createDatabases(now: () => number): Databases {
  const databases = new Map<string, Map<string, Collection>>();

  return {
    find: (db, name) => databases.get(db)?.get(name),
    ensure(db, name) {
      const collections = databases.get(db) ?? new Map<string, Collection>();
      databases.set(db, collections);
      const collection = collections.get(name) ?? createCollection(`${db}.${name}`, new Date(now()));
      collections.set(name, collection);
      return collection;
    },
    names: (db) => [...(databases.get(db)?.keys() ?? [])],
    drop: (db, name) => databases.get(db)?.delete(name) ?? false,
    dropAll: (db) => void databases.delete(db),
    removeExpired(now) {
      let removed = 0;
      for (const collections of databases.values()) {
        for (const collection of collections.values()) removed += collection.removeExpired(now);
      }
      return removed;
    },
  };
}

/** Documents in insertion order with their indexes. Each method is synchronous and therefore atomic. */
export interface Collection {
  readonly namespace: string;
  all(): Doc[];
  /** `query` is the source of `matches`. A query by `_id` reads only that document. */
  matching(matches: Matcher, query: unknown): Doc[];
  /** Inserts, or replaces the document with this `_id`. A duplicate key changes nothing. */
  put(doc: Doc, mode: 'insert' | 'replace'): void;
  remove(doc: Doc): void;
  indexes(): readonly Index[];
  createIndex(spec: unknown): void;
  dropIndex(name: string): void;
  /** What the TTL monitor does once a minute. */
  removeExpired(now: number): number;
}

function createCollection(namespace: string, created: Date): Collection {
  const docs = new Map<string, Doc>();
  const entriesOf = new Map<string, Map<Index, string>>();
  let indexes: Index[] = [idIndex(created)];

  const releaseEntries = (id: string) => {
    for (const [index, entry] of entriesOf.get(id) ?? []) index.owners.delete(entry);
    entriesOf.delete(id);
  };

  const storeEntries = (id: string, entries: Map<Index, string>) => {
    for (const [index, entry] of entries) index.owners.set(entry, id);
    entriesOf.set(id, new Map([...(entriesOf.get(id) ?? []), ...entries]));
  };

  const remove = (doc: Doc) => {
    const id = keyOfValue(doc['_id']);
    releaseEntries(id);
    docs.delete(id);
  };

  return {
    namespace,
    all: () => [...docs.values()],
    matching(matches, query) {
      const id = isDoc(query) ? query['_id'] : undefined;
      if (typeof id !== 'string') return [...docs.values()].filter(matches);
      const found = docs.get(keyOfValue(id));
      return found && matches(found) ? [found] : [];
    },
    put(doc, mode) {
      if (Array.isArray(doc['_id']))
        throw new ServerError(53, 'InvalidIdField', "The '_id' value cannot be an array");
      // A new document owns no index entries yet: one with an equal _id is another document.
      const id = keyOfValue(doc['_id']);
      const entries = claimEntries(indexes, doc, mode === 'insert' ? '' : id, namespace);
      if (mode === 'replace') releaseEntries(id);
      storeEntries(id, entries);
      docs.set(id, doc);
    },
    remove,
    indexes: () => indexes,
    createIndex(spec) {
      const index = parseIndex(spec, created);
      if (isAlreadyDefined(indexes, index)) return;
      for (const doc of docs.values()) {
        const id = keyOfValue(doc['_id']);
        storeEntries(id, claimEntries([index], doc, id, namespace));
      }
      indexes.push(index);
    },
    dropIndex(name) {
      if (name === '_id_') throw badValue('cannot drop _id index');
      if (!indexes.some((index) => index.name === name)) {
        throw new ServerError(27, 'IndexNotFound', `index not found with name [${name}]`);
      }
      indexes = indexes.filter((index) => index.name !== name);
    },
    removeExpired(now) {
      const expired = [...docs.values()].filter((doc) => isExpired(indexes, doc, now));
      expired.forEach(remove);
      return expired.length;
    },
  };
}

interface Index {
  readonly name: string;
  readonly key: Doc;
  readonly spec: Doc;
  readonly unique: boolean;
  readonly expireAfterSeconds: number | null;
  /** Documents outside the partial filter are not indexed. */
  readonly covers: Matcher;
  /** For unique indexes: the owner of each key. */
  readonly owners: Map<string, string>;
}

function parseIndex(spec: unknown, now: Date): Index {
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

function idIndex(now: Date): Index {
  return parseIndex({ key: { _id: 1 }, name: '_id_' }, now);
}

/** True if the index exists. Rejects a different definition with the same name or key, as the server does. */
function isAlreadyDefined(indexes: readonly Index[], requested: Index): boolean {
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

/** The order of the options has no meaning. */
function options(spec: Doc): Doc {
  const { key: _key, name: _name, ...rest } = spec;
  return Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The unique index entries of a document. Throws if another document owns one. */
function claimEntries(
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
function isExpired(indexes: readonly Index[], doc: Doc, now: number): boolean {
  return indexes.some((index) => {
    if (index.expireAfterSeconds === null || !index.covers(doc)) return false;
    const value = getPath(doc, Object.keys(index.key)[0] as string);
    return value instanceof Date && value.getTime() + index.expireAfterSeconds * 1000 <= now;
  });
}

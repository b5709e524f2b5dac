import { isAlreadyDefined, claimEntries, idIndex, isExpired, parseIndex, type Index } from './indexes.ts';
import type { Matcher } from './filter.ts';
import { badValue, ServerError } from './serverError.ts';
import { isDoc, keyOfValue, type Doc } from './values.ts';

/** Documents in insertion order, with their indexes. Every method runs to its end before anything else does. */
export interface Collection {
  readonly namespace: string;
  all(): Doc[];
  /** `query` is what `matches` was made of: one that names a document by its `_id` looks at no other. */
  matching(matches: Matcher, query: unknown): Doc[];
  /** Inserts, or replaces the document with this `_id`; a duplicate key changes nothing. */
  put(doc: Doc, mode: 'insert' | 'replace'): void;
  remove(doc: Doc): void;
  indexes(): readonly Index[];
  createIndex(spec: unknown): void;
  dropIndex(name: string): void;
  /** What the TTL monitor does once a minute. */
  removeExpired(now: number): number;
}

export function createCollection(namespace: string, created: Date): Collection {
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
      // A new document's own text may not stand for an owner: an equal _id is another document.
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

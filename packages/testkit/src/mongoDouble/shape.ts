import { getPath, setPath, unsetPath } from './paths.ts';
import { badValue, notInManifest, ServerError } from './serverError.ts';
import { copyDocument } from './update.ts';
import { compareValues, isDoc, type Doc } from './values.ts';

/** Sorts by a specification; a missing field sorts as null does. */
export function sortDocuments(docs: readonly Doc[], sort: unknown): Doc[] {
  if (sort === undefined) return [...docs];
  if (!isDoc(sort)) throw badValue('A sort must be a document');
  const keys = Object.entries(sort);
  for (const [, direction] of keys) {
    if (direction !== 1 && direction !== -1) throw notInManifest(`a sort by ${JSON.stringify(direction)}`);
  }
  const valueOf = (doc: Doc, path: string) => {
    const value = getPath(doc, path) ?? null;
    if (Array.isArray(value)) throw notInManifest('a sort over an array');
    return value;
  };
  const rows = docs.map((doc) => ({ doc, values: keys.map(([path]) => valueOf(doc, path)) }));
  rows.sort((a, b) => {
    for (const [i, [, direction]] of keys.entries()) {
      const order = compareValues(a.values[i], b.values[i]);
      if (order !== 0) return order * (direction as number);
    }
    return 0;
  });
  return rows.map(({ doc }) => doc);
}

export function slicePage(docs: Doc[], skip: unknown, limit: unknown): Doc[] {
  const start = parseCount(skip, 'skip');
  const size = parseCount(limit, 'limit');
  return docs.slice(start, size === 0 ? undefined : start + size);
}

function parseCount(value: unknown, name: string): number {
  if (value === undefined) return 0;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0)
    throw badValue(`${name} must not be negative`);
  return value;
}

/** Plain inclusion or exclusion of fields; computed fields are refused. */
export function compileProjection(projection: unknown): (doc: Doc) => Doc {
  if (projection === undefined) return (doc) => doc;
  if (!isDoc(projection)) throw badValue('A projection must be a document');
  const fields = Object.entries(projection).map(([path, value]) => {
    if (![0, 1, true, false].includes(value as number)) throw notInManifest(`a computed field '${path}'`);
    return [path, Boolean(value)] as const;
  });
  const nonIdFields = fields.filter(([path]) => path !== '_id');
  const isInclusion =
    nonIdFields.length > 0
      ? nonIdFields[0]?.[1] === true
      : projection['_id'] === 1 || projection['_id'] === true;
  if (nonIdFields.some(([, included]) => included !== isInclusion)) {
    throw new ServerError(31254, 'Location31254', 'Cannot mix inclusion and exclusion in a projection');
  }
  const includesId = fields.find(([path]) => path === '_id')?.[1] ?? true;
  return (doc) => {
    const out: Doc = isInclusion ? {} : copyDocument(doc);
    if (isInclusion && includesId && '_id' in doc) out['_id'] = doc['_id'];
    if (!isInclusion && !includesId) Reflect.deleteProperty(out, '_id');
    for (const [path] of nonIdFields) {
      const value = getPath(doc, path);
      if (!isInclusion) unsetPath(out, path);
      else if (value !== undefined) setPath(out, path, value);
    }
    return out;
  };
}

import { Long } from 'bson';
import { evaluate, prepareExpression } from '../expressions.ts';
import { compileFilter } from '../filter.ts';
import { manifest } from '../manifest.ts';
import { ServerError, badValue, notInManifest } from '../serverError.ts';
import { compileStage, copyDocument, parseStage } from '../update.ts';
import { type Doc, compareValues, getPath, isDoc, keyOfValue, setPath, unsetPath } from '../values.ts';
import {
  type Handler,
  assertKnownFields,
  assertNonEmptyArray,
  collectionNameOf,
  documentsOf,
} from './context.ts';

export const find: Handler = (command, context) => {
  const name = collectionNameOf(command, 'find');
  const filter = command['filter'] ?? {};
  const matches = compileFilter(filter, context.now);
  const matching = context.databases.find(context.db, name)?.matching(matches, filter) ?? [];
  const project = compileProjection(command['projection']);
  const page = slicePage(sortDocuments(matching, command['sort']), command['skip'], command['limit']).map(
    project,
  );
  const single = command['singleBatch'] === true;
  return context.cursors.open(`${context.db}.${name}`, page, sizeOf(command['batchSize']), single);
};

export const getMore: Handler = (command, context) =>
  context.cursors.getMore(Number(command['getMore']), sizeOf(command['batchSize']));

export const killCursors: Handler = (command, context) => {
  const cursors = Array.isArray(command['cursors']) ? command['cursors'] : [];
  return { ok: 1, cursorsKilled: context.cursors.kill(cursors) };
};

export const count: Handler = (command, context) => {
  const docs = documentsOf(context.databases.find(context.db, collectionNameOf(command, 'count')));
  return { ok: 1, n: docs.filter(compileFilter(command['query'] ?? {}, context.now)).length };
};

export function batchSizeOf(cursor: unknown): number | undefined {
  return isDoc(cursor) ? sizeOf(cursor['batchSize']) : undefined;
}

function sizeOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export const aggregate: Handler = (command, context) => {
  const name = collectionNameOf(command, 'aggregate');
  assertKnownFields(command['cursor'] ?? {}, ['batchSize'], 'an aggregation cursor');
  let docs = documentsOf(context.databases.find(context.db, name));
  const pipeline = command['pipeline'];
  for (const stage of Array.isArray(pipeline) && pipeline.length === 0
    ? []
    : assertNonEmptyArray(pipeline, 'pipeline')) {
    docs = runStage(docs, stage, context.now);
  }
  return context.cursors.open(`${context.db}.${name}`, docs, batchSizeOf(command['cursor']), false);
};

function runStage(docs: Doc[], stage: unknown, now: Date): Doc[] {
  const [name, spec] = parseStage(stage);
  if (!(manifest.aggregateStages as readonly string[]).includes(name)) {
    throw notInManifest(`the aggregation stage ${name}`);
  }
  switch (name) {
    case '$match':
      return docs.filter(compileFilter(spec, now));
    case '$sort':
      return sortDocuments(docs, spec);
    case '$skip':
      return slicePage(docs, spec, undefined);
    case '$limit':
      return slicePage(docs, undefined, spec);
    case '$project':
      return docs.map(compileProjection(spec));
    case '$count':
      return docs.length === 0 ? [] : [{ [String(spec)]: docs.length }];
    case '$group':
      return group(docs, spec, now);
    default:
      return docs.map(compileStage(name, spec, now));
  }
}

function group(docs: Doc[], spec: unknown, now: Date): Doc[] {
  if (!isDoc(spec) || !('_id' in spec)) throw badValue('a group specification must include an _id');
  const { _id, ...fields } = spec;
  const key = prepareExpression(_id, now);
  const outputs = Object.entries(fields).map(([field, accumulator]) => {
    const [operator, argument] = parseStage(accumulator);
    if (!(manifest.accumulators as readonly string[]).includes(operator)) {
      throw notInManifest(`the accumulator ${operator}`);
    }
    return { field, operator, argument: prepareExpression(argument, now) };
  });
  const groups = new Map<string, { id: unknown; docs: Doc[] }>();
  for (const doc of docs) {
    const id = evaluate(doc, key) ?? null;
    const text = keyOfValue(id);
    const entry = groups.get(text) ?? { id, docs: [] };
    entry.docs.push(doc);
    groups.set(text, entry);
  }
  return [...groups.values()].map(({ id, docs: members }) => {
    const row: Doc = { _id: id };
    for (const { field, operator, argument } of outputs) {
      row[field] = accumulate(
        operator,
        members.map((doc) => evaluate(doc, argument)),
      );
    }
    return row;
  });
}

function accumulate(operator: string, values: unknown[]): unknown {
  if (operator === '$sum') {
    return values.reduce<number>((sum, value) => sum + (typeof value === 'number' ? value : 0), 0);
  }
  const present = values.filter((value) => value !== undefined && value !== null);
  const sorted = present.sort(compareValues);
  return (operator === '$min' ? sorted[0] : sorted.at(-1)) ?? null;
}

/** Sorts by a specification. A missing field sorts like null. */
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

function slicePage(docs: Doc[], skip: unknown, limit: unknown): Doc[] {
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

/** Includes or excludes fields. Computed fields are rejected. */
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

/** Results after the first batch. */
export interface Cursors {
  /** The reply of a command that opens a cursor. */
  open(namespace: string, docs: readonly Doc[], batchSize: number | undefined, isSingleBatch: boolean): Doc;
  getMore(id: number, batchSize: number | undefined): Doc;
  kill(ids: readonly unknown[]): number[];
}

/** MongoDB's default size of the first batch. */
const FIRST_BATCH = 101;

export function createCursors(): Cursors {
  const open = new Map<number, { namespace: string; rest: readonly Doc[] }>();
  let lastId = 1_000;

  return {
    open(namespace, docs, batchSize, single) {
      const size = batchSize ?? FIRST_BATCH;
      const rest = docs.slice(size);
      let id = 0;
      if (rest.length > 0 && !single) {
        lastId += 1;
        id = lastId;
        open.set(id, { namespace, rest });
      }
      return { ok: 1, cursor: { id: Long.fromNumber(id), ns: namespace, firstBatch: docs.slice(0, size) } };
    },
    getMore(id, batchSize) {
      const cursor = open.get(id);
      if (!cursor) throw new ServerError(43, 'CursorNotFound', `cursor id ${id} not found`);
      const size = batchSize ?? cursor.rest.length;
      const rest = cursor.rest.slice(size);
      if (rest.length > 0) open.set(id, { ...cursor, rest });
      else open.delete(id);
      const remainingId = Long.fromNumber(rest.length > 0 ? id : 0);
      return {
        ok: 1,
        cursor: { id: remainingId, ns: cursor.namespace, nextBatch: cursor.rest.slice(0, size) },
      };
    },
    kill: (ids) => ids.map(Number).filter((id) => open.delete(id)),
  };
}

import { evaluate, prepareExpression } from '../expressions.ts';
import { compileFilter } from '../filter.ts';
import { manifest } from '../manifest.ts';
import { badValue, notInManifest } from '../serverError.ts';
import { compileProjection, slicePage, sortDocuments } from '../shape.ts';
import { compileStage, parseStage } from '../updatePipeline.ts';
import { compareValues, isDoc, keyOfValue, type Doc } from '../values.ts';
import {
  documentsOf,
  assertNonEmptyArray,
  assertKnownFields,
  collectionNameOf,
  type Handler,
} from './context.ts';
import { batchSizeOf } from './reads.ts';

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

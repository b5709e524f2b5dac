import { ObjectId } from 'bson';
import { evaluate, prepareExpression } from './expressions.ts';
import { compileFilter, isOperators } from './filter.ts';
import { manifest } from './manifest.ts';
import { ServerError, badValue, failedToParse, notInManifest } from './serverError.ts';
import {
  type Doc,
  checkStorable,
  compareValues,
  getPath,
  isDoc,
  keyOfValue,
  setPath,
  unsetPath,
} from './values.ts';

/** Applies an update and returns a new document. `null` is the initial document of an upsert. */
type DocumentUpdate = (current: Doc | null) => Doc;

/** Compiles an operator update, a replacement or a pipeline. Throws on anything outside the manifest. */
export function compileUpdate(update: unknown, query: Doc, now: Date): DocumentUpdate {
  const change = Array.isArray(update)
    ? pipelineChange(update, now)
    : isOperators(update)
      ? operatorChange(update, now)
      : replacement(update);
  return (current) => {
    const initial: Doc = current ? copyDocument(current) : equalityFields(query);
    const after = change(initial, current === null);
    if (current && keyOfValue(after['_id']) !== keyOfValue(current['_id'])) {
      throw new ServerError(
        66,
        'ImmutableField',
        "Performing an update would modify the immutable field '_id'",
      );
    }
    const { _id, ...rest } = after;
    const updated = { _id: _id === undefined ? new ObjectId() : _id, ...rest };
    checkStorable(updated);
    return updated;
  };
}

type UpdateStep = (doc: Doc, inserting: boolean) => Doc;

function pipelineChange(update: unknown[], now: Date): UpdateStep {
  const stages = compileUpdatePipeline(update, now);
  return (doc) => applyStages(doc, stages);
}

function replacement(update: unknown): UpdateStep {
  if (!isDoc(update)) throw failedToParse('An update must be a document or a pipeline');
  return (doc) => ({ ...('_id' in doc ? { _id: doc['_id'] } : {}), ...copyDocument(update) });
}

function operatorChange(update: Doc, now: Date): UpdateStep {
  const paths: string[] = [];
  for (const [operator, fields] of Object.entries(update)) {
    if (!operator.startsWith('$')) {
      throw failedToParse(
        `Unknown modifier: ${operator}. Expected a valid update modifier or pipeline-style update`,
      );
    }
    if (!(manifest.updateOperators as readonly string[]).includes(operator)) {
      throw notInManifest(`the update operator ${operator}`);
    }
    if (!isDoc(fields)) throw failedToParse(`Modifiers operate on fields, but ${operator} has no document`);
    paths.push(...Object.keys(fields));
  }
  assertNoConflicts(paths);
  return (doc, inserting) => {
    for (const [operator, fields] of Object.entries(update)) {
      if (operator === '$setOnInsert' && !inserting) continue;
      for (const [path, operand] of Object.entries(fields as Doc))
        applyOperator(doc, operator, path, operand, now);
    }
    return doc;
  };
}

function assertNoConflicts(paths: readonly string[]): void {
  paths.forEach((path, i) => {
    const conflict = paths.find((other, j) => j !== i && (other === path || other.startsWith(`${path}.`)));
    if (conflict !== undefined) {
      const text = `Updating the path '${conflict}' would create a conflict at '${path}'`;
      throw new ServerError(40, 'ConflictingUpdateOperators', text);
    }
  });
}

function applyOperator(doc: Doc, operator: string, path: string, operand: unknown, now: Date): void {
  const current = getPath(doc, path);
  if (operator === '$unset') unsetPath(doc, path);
  else setPath(doc, path, changedValue(operator, path, current, operand, now));
}

function changedValue(
  operator: string,
  path: string,
  current: unknown,
  operand: unknown,
  now: Date,
): unknown {
  switch (operator) {
    case '$set':
    case '$setOnInsert':
      return copy(operand);
    case '$inc':
      if (typeof operand !== 'number')
        throw typeMismatch(`Cannot increment with non-numeric argument at '${path}'`);
      if (current !== undefined && typeof current !== 'number') {
        throw typeMismatch(`Cannot apply $inc to a value of non-numeric type at '${path}'`);
      }
      return (current ?? 0) + operand;
    case '$min':
      return current === undefined || compareValues(operand, current) < 0 ? copy(operand) : current;
    case '$max':
      return current === undefined || compareValues(operand, current) > 0 ? copy(operand) : current;
    case '$currentDate':
      if (operand !== true) throw notInManifest('$currentDate with a type');
      return now;
    default:
      return changedArray(operator, path, current, operand, now);
  }
}

function changedArray(
  operator: string,
  path: string,
  current: unknown,
  operand: unknown,
  now: Date,
): unknown[] {
  if (current !== undefined && !Array.isArray(current)) {
    throw badValue(`The field '${path}' must be an array for ${operator}`);
  }
  const before: unknown[] = current ?? [];
  if (operator === '$pull') {
    const pulled = isDoc(operand) ? compileFilter(operand, now) : null;
    return before.filter((item) =>
      pulled ? !(isDoc(item) && pulled(item)) : keyOfValue(item) !== keyOfValue(operand),
    );
  }
  const added = isOperators(operand) ? readEach(operator, operand) : [operand];
  if (operator === '$push') return [...before, ...added.map(copy)];
  const after = [...before];
  for (const item of added) {
    if (!after.some((other) => keyOfValue(other) === keyOfValue(item))) after.push(copy(item));
  }
  return after;
}

function readEach(operator: string, operand: Doc): unknown[] {
  const { $each: each, ...rest } = operand;
  if (!Array.isArray(each) || Object.keys(rest).length > 0) throw notInManifest(`this form of ${operator}`);
  return each;
}

/** The initial fields of an upsert: the equalities of its filter, including those within $and. */
function equalityFields(query: Doc): Doc {
  const fields: Doc = {};
  for (const [field, condition] of Object.entries(query)) {
    if (field === '$and') {
      for (const branch of condition as Doc[]) Object.assign(fields, equalityFields(branch));
    } else if (field.startsWith('$')) continue;
    else if (!isOperators(condition)) setPath(fields, field, copy(condition));
    else if ('$eq' in condition) setPath(fields, field, copy(condition['$eq']));
  }
  return fields;
}

function typeMismatch(message: string): ServerError {
  return new ServerError(14, 'TypeMismatch', message);
}

/** Copies objects and arrays. All other values are immutable. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  return isDoc(value) ? copyDocument(value) : value;
}

export function copyDocument(doc: Doc): Doc {
  return Object.fromEntries(Object.entries(doc).map(([key, value]) => [key, copy(value)]));
}

type Stage = (doc: Doc) => Doc;

function compileUpdatePipeline(pipeline: readonly unknown[], now: Date): Stage[] {
  return pipeline.map((stage) => {
    const [name, spec] = parseStage(stage);
    if (!(manifest.updateStages as readonly string[]).includes(name)) {
      throw notInManifest(`the update stage ${name}`);
    }
    return compileStage(name, spec, now);
  });
}

export function parseStage(stage: unknown): [string, unknown] {
  const entries = isDoc(stage) ? Object.entries(stage) : [];
  const only = entries[0];
  if (entries.length !== 1 || only === undefined) {
    throw new ServerError(
      40323,
      'Location40323',
      'A pipeline stage specification must contain exactly one field',
    );
  }
  return only;
}

/** The stages that process one document at a time. `aggregate` supports some of them too. */
export function compileStage(name: string, spec: unknown, now: Date): Stage {
  if (name === '$set' || name === '$addFields') return setStage(spec, now);
  if (name === '$unset') return unsetStage(spec);
  const prepared = prepareExpression(spec, now);
  return (doc) => {
    const root = evaluate(doc, prepared);
    if (!isDoc(root))
      throw new ServerError(40228, 'Location40228', '$replaceWith must evaluate to an object');
    return '_id' in root || !('_id' in doc)
      ? copyNestedDocuments(root)
      : { _id: doc['_id'], ...copyNestedDocuments(root) };
  };
}

function applyStages(doc: Doc, stages: readonly Stage[]): Doc {
  return stages.reduce((current, stage) => stage(current), doc);
}

/** All fields of one stage read the document before the stage. A nested object sets its fields one by one. */
function setStage(spec: unknown, now: Date): Stage {
  if (!isDoc(spec)) throw failedToParse('$set specification stage must be an object');
  const fields = flatten(spec).map(([path, expr]) => [path, prepareExpression(expr, now)] as const);
  return (doc) => {
    const values = fields.map(([path, prepared]) => [path, evaluate(doc, prepared)] as const);
    const after = copyNestedDocuments(doc);
    for (const [path, value] of values) {
      if (value === undefined) unsetPath(after, path);
      else setPath(after, path, value, true);
    }
    return after;
  };
}

function flatten(spec: Doc, prefix = ''): [string, unknown][] {
  return Object.entries(spec).flatMap(([field, expr]): [string, unknown][] => {
    const path = `${prefix}${field}`;
    const nested = isDoc(expr) && !Object.keys(expr).some((key) => key.startsWith('$'));
    if (nested && Object.keys(expr).length === 0)
      throw notInManifest('an empty object in $set; use $literal');
    return nested ? flatten(expr, `${path}.`) : [[path, expr]];
  });
}

function unsetStage(spec: unknown): Stage {
  const paths = Array.isArray(spec) ? spec : [spec];
  if (!paths.every((path): path is string => typeof path === 'string')) {
    throw failedToParse('$unset specification must be a string or an array of strings');
  }
  return (doc) => {
    const after = copyNestedDocuments(doc);
    for (const path of paths) unsetPath(after, path);
    return after;
  };
}

function copyNestedDocuments(doc: Doc): Doc {
  return Object.fromEntries(
    Object.entries(doc).map(([key, value]) => [key, isDoc(value) ? copyNestedDocuments(value) : value]),
  );
}

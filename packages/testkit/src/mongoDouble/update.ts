import { ObjectId } from 'bson';
import { compileFilter, isOperators } from './filter.ts';
import { manifest } from './manifest.ts';
import { getPath, setPath, unsetPath } from './paths.ts';
import { applyStages, compileUpdatePipeline } from './updatePipeline.ts';
import { badValue, failedToParse, notInManifest, ServerError } from './serverError.ts';
import { checkStorable, compareValues, isDoc, keyOfValue, type Doc } from './values.ts';

/** What an update makes of a document, as a new document; `null` stands for the one an upsert begins with. */
export type DocumentUpdate = (current: Doc | null) => Doc;

/** Compiles an operator update, a replacement or a pipeline; anything outside the manifest throws. */
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

/** An upsert begins with what its filter fixes: equalities, also those within $and. */
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

/** Documents hold plain objects and arrays over values that never change; only the former need a copy. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  return isDoc(value) ? copyDocument(value) : value;
}

export function copyDocument(doc: Doc): Doc {
  return Object.fromEntries(Object.entries(doc).map(([key, value]) => [key, copy(value)]));
}

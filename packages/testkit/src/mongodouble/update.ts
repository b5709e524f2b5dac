import { ObjectId } from 'bson';
import { compileFilter, isOperators } from './filter.ts';
import { manifest } from './manifest.ts';
import { getPath, setPath, unsetPath } from './paths.ts';
import { applyStages, compileUpdatePipeline } from './updatePipeline.ts';
import { badValue, failedToParse, outsideManifest, ServerError } from './serverError.ts';
import { checkStorable, compareValues, isDoc, keyOfValue, type Doc } from './values.ts';

/** What an update makes of a document, as a new document; `null` stands for the one an upsert begins with. */
export type Change = (current: Doc | null) => Doc;

/** Compiles an operator update, a replacement or a pipeline; anything outside the manifest throws. */
export function compileUpdate(update: unknown, query: Doc, now: Date): Change {
  const change = Array.isArray(update)
    ? pipelineChange(update, now)
    : isOperators(update)
      ? operatorChange(update, now)
      : replacement(update);
  return (current) => {
    const begin: Doc = current ? structured(current) : equalities(query);
    const after = change(begin, current === null);
    if (current && keyOfValue(after['_id']) !== keyOfValue(current['_id'])) {
      throw new ServerError(
        66,
        'ImmutableField',
        "Performing an update would modify the immutable field '_id'",
      );
    }
    const { _id, ...rest } = after;
    const whole = { _id: _id === undefined ? new ObjectId() : _id, ...rest };
    checkStorable(whole);
    return whole;
  };
}

type Step = (doc: Doc, inserting: boolean) => Doc;

function pipelineChange(update: unknown[], now: Date): Step {
  const stages = compileUpdatePipeline(update, now);
  return (doc) => applyStages(doc, stages);
}

function replacement(update: unknown): Step {
  if (!isDoc(update)) throw failedToParse('An update must be a document or a pipeline');
  return (doc) => ({ ...('_id' in doc ? { _id: doc['_id'] } : {}), ...structured(update) });
}

function operatorChange(update: Doc, now: Date): Step {
  const paths: string[] = [];
  for (const [operator, fields] of Object.entries(update)) {
    if (!operator.startsWith('$')) {
      throw failedToParse(
        `Unknown modifier: ${operator}. Expected a valid update modifier or pipeline-style update`,
      );
    }
    if (!(manifest.updateOperators as readonly string[]).includes(operator)) {
      throw outsideManifest(`the update operator ${operator}`);
    }
    if (!isDoc(fields)) throw failedToParse(`Modifiers operate on fields, but ${operator} has no document`);
    paths.push(...Object.keys(fields));
  }
  refuseConflicts(paths);
  return (doc, inserting) => {
    for (const [operator, fields] of Object.entries(update)) {
      if (operator === '$setOnInsert' && !inserting) continue;
      for (const [path, operand] of Object.entries(fields as Doc))
        applyOperator(doc, operator, path, operand, now);
    }
    return doc;
  };
}

function refuseConflicts(paths: readonly string[]): void {
  paths.forEach((path, i) => {
    const clash = paths.find((other, j) => j !== i && (other === path || other.startsWith(`${path}.`)));
    if (clash !== undefined) {
      const text = `Updating the path '${clash}' would create a conflict at '${path}'`;
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
      if (operand !== true) throw outsideManifest('$currentDate with a type');
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
  const added = isOperators(operand) ? eachOf(operator, operand) : [operand];
  if (operator === '$push') return [...before, ...added.map(copy)];
  const after = [...before];
  for (const item of added) {
    if (!after.some((other) => keyOfValue(other) === keyOfValue(item))) after.push(copy(item));
  }
  return after;
}

function eachOf(operator: string, operand: Doc): unknown[] {
  const { $each: each, ...rest } = operand;
  if (!Array.isArray(each) || Object.keys(rest).length > 0) throw outsideManifest(`this form of ${operator}`);
  return each;
}

/** An upsert begins with what its filter fixes: equalities, also those within $and. */
function equalities(query: Doc): Doc {
  const begin: Doc = {};
  for (const [field, condition] of Object.entries(query)) {
    if (field === '$and') {
      for (const branch of condition as Doc[]) Object.assign(begin, equalities(branch));
    } else if (field.startsWith('$')) continue;
    else if (!isOperators(condition)) setPath(begin, field, copy(condition));
    else if ('$eq' in condition) setPath(begin, field, copy(condition['$eq']));
  }
  return begin;
}

function typeMismatch(message: string): ServerError {
  return new ServerError(14, 'TypeMismatch', message);
}

/** Documents hold plain objects and arrays over values that never change; only the former need a copy. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  return isDoc(value) ? structured(value) : value;
}

export function structured(doc: Doc): Doc {
  return Object.fromEntries(Object.entries(doc).map(([key, value]) => [key, copy(value)]));
}

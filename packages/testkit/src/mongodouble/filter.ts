import { Context } from 'mingo/core';
import * as queryOperators from 'mingo/operators/query';
import { Query } from 'mingo/query';
import { evaluate, mingoOptions, prepareExpression } from './expressions.ts';
import { manifest } from './manifest.ts';
import { badValue, outsideManifest } from './serverError.ts';
import { isDoc, typeOfValue, type Doc } from './values.ts';

export type Matcher = (doc: Doc) => boolean;

const known = manifest.queryOperators as readonly string[];
const ordered = ['$gt', '$gte', '$lt', '$lte'];

const taught = Object.entries(queryOperators).filter(([name]) => known.includes(name));
const queryContext = Context.init({ query: Object.fromEntries(taught) as never });

/** Compiles a filter of the manifest; anything else in it throws. */
export function compileFilter(filter: unknown, now: Date): Matcher {
  if (!isDoc(filter)) throw badValue('A filter must be a document');
  const parts = Object.entries(filter).map(([field, condition]): Matcher => {
    if (!field.startsWith('$')) return fieldMatcher(field, condition);
    if (!(manifest.logicalQueryOperators as readonly string[]).includes(field)) {
      throw outsideManifest(`the query operator ${field}`);
    }
    if (field === '$expr') {
      const prepared = prepareExpression(condition, now);
      return (doc) => truthy(evaluate(doc, prepared));
    }
    if (!Array.isArray(condition) || condition.length === 0)
      throw badValue(`${field} must be a nonempty array`);
    const branches = condition.map((branch) => compileFilter(branch, now));
    if (field === '$and') return (doc) => branches.every((branch) => branch(doc));
    if (field === '$or') return (doc) => branches.some((branch) => branch(doc));
    return (doc) => !branches.some((branch) => branch(doc));
  });
  return (doc) => parts.every((part) => part(doc));
}

function fieldMatcher(field: string, condition: unknown): Matcher {
  if (field.split('.').some((step) => step === '' || step === '__proto__' || step.startsWith('$'))) {
    throw outsideManifest(`the path '${field}'`);
  }
  checkCondition(condition);
  const query = new Query({ [field]: condition }, mingoOptions(queryContext));
  return (doc) => query.test(doc);
}

function checkCondition(condition: unknown): void {
  if (!isOperators(condition)) {
    checkOperand(condition);
    return;
  }
  for (const [operator, operand] of Object.entries(condition)) {
    if (!known.includes(operator)) throw outsideManifest(`the query operator ${operator}`);
    if (operator === '$in' || operator === '$nin') {
      if (!Array.isArray(operand)) throw badValue(`${operator} needs an array`);
      operand.forEach(checkOperand);
    } else if (operator === '$not') {
      if (!isOperators(operand)) throw outsideManifest('$not without operators');
      checkCondition(operand);
    } else if (operator === '$elemMatch') {
      if (!isDoc(operand)) throw badValue('$elemMatch needs an object');
      if (isOperators(operand)) checkCondition(operand);
      else Object.values(operand).forEach(checkCondition);
    } else if (ordered.includes(operator) && ['null', 'array', 'object'].includes(typeOfValue(operand))) {
      throw outsideManifest(`${operator} with ${typeOfValue(operand)}`);
    } else checkOperand(operand);
  }
}

function checkOperand(operand: unknown): void {
  if (typeOfValue(operand) === 'unknown') throw outsideManifest('this type of value in a filter');
}

export function isOperators(value: unknown): value is Doc {
  return isDoc(value) && Object.keys(value).some((key) => key.startsWith('$'));
}

function truthy(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== 0;
}

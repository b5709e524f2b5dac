import { Context } from 'mingo/core';
import * as queryOperators from 'mingo/operators/query';
import { Query } from 'mingo/query';
import { evaluate, mingoOptions, prepareExpression } from './expressions.ts';
import { manifest } from './manifest.ts';
import { type Doc, getPath, isDoc, typeOfValue } from './values.ts';
import { badValue, notInManifest } from './serverError.ts';

export type Matcher = (doc: Doc) => boolean;

const supported = manifest.queryOperators as readonly string[];
const orderOperators = ['$gt', '$gte', '$lt', '$lte'];

const supportedOperators = Object.entries(queryOperators).filter(([name]) => supported.includes(name));
const queryContext = Context.init({ query: Object.fromEntries(supportedOperators) as never });

/** Compiles a filter. Throws on anything outside the manifest. */
export function compileFilter(filter: unknown, now: Date): Matcher {
  if (!isDoc(filter)) throw badValue('A filter must be a document');
  const parts = Object.entries(filter).map(([field, condition]): Matcher => {
    if (!field.startsWith('$')) return fieldMatcher(field, condition);
    if (!(manifest.logicalQueryOperators as readonly string[]).includes(field)) {
      throw notInManifest(`the query operator ${field}`);
    }
    if (field === '$expr') {
      const prepared = prepareExpression(condition, now);
      return (doc) => isTruthy(evaluate(doc, prepared));
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
    throw notInManifest(`the path '${field}'`);
  }
  if (isOperators(condition) && '$regex' in condition) return textMatcher(field, condition);
  checkCondition(condition);
  const query = new Query({ [field]: condition }, mingoOptions(queryContext));
  return (doc) => query.test(doc);
}

/** MongoDB uses PCRE and JavaScript does not. For patterns of plain text, both are equal. */
function textMatcher(field: string, condition: Doc): Matcher {
  const { fields, options } = manifest.textSearch;
  const pattern = condition['$regex'];
  if (Object.keys(condition).some((key) => !(fields as readonly string[]).includes(key)))
    throw notInManifest('$regex beside another operator');
  if (condition['$options'] !== options) throw notInManifest(`$regex without the option ${options}`);
  if (typeof pattern !== 'string' || !/^([a-z0-9]|[^\0-\x7f]|\\x[0-9a-f]{2})*$/i.test(pattern))
    throw notInManifest('a $regex that is more than a text');
  const expression = new RegExp(pattern, 'iu');
  return (doc) => {
    const value = getPath(doc, field);
    if (Array.isArray(value)) throw notInManifest('$regex over an array');
    return typeof value === 'string' && expression.test(value);
  };
}

function checkCondition(condition: unknown): void {
  if (!isOperators(condition)) {
    checkOperand(condition);
    return;
  }
  for (const [operator, operand] of Object.entries(condition)) {
    if (!supported.includes(operator)) throw notInManifest(`the query operator ${operator}`);
    if (operator === '$in' || operator === '$nin') {
      if (!Array.isArray(operand)) throw badValue(`${operator} needs an array`);
      operand.forEach(checkOperand);
    } else if (operator === '$not') {
      if (!isOperators(operand)) throw notInManifest('$not without operators');
      checkCondition(operand);
    } else if (operator === '$elemMatch') {
      if (!isDoc(operand)) throw badValue('$elemMatch needs an object');
      if (isOperators(operand)) checkCondition(operand);
      else Object.values(operand).forEach(checkCondition);
    } else if (
      orderOperators.includes(operator) &&
      ['null', 'array', 'object'].includes(typeOfValue(operand))
    ) {
      throw notInManifest(`${operator} with ${typeOfValue(operand)}`);
    } else checkOperand(operand);
  }
}

function checkOperand(operand: unknown): void {
  if (typeOfValue(operand) === 'unknown') throw notInManifest('this type of value in a filter');
}

export function isOperators(value: unknown): value is Doc {
  return isDoc(value) && Object.keys(value).some((key) => key.startsWith('$'));
}

function isTruthy(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== 0;
}

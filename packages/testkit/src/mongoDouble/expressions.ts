import { Context, evalExpr, ProcessingMode } from 'mingo/core';
import * as arithmetic from 'mingo/operators/expression/arithmetic';
import * as arrays from 'mingo/operators/expression/array';
import * as booleans from 'mingo/operators/expression/boolean';
import * as conditions from 'mingo/operators/expression/conditional';
import { $literal, $mergeObjects } from 'mingo/operators/expression';
import type { Options } from 'mingo/types';
import { manifest } from './manifest.ts';
import { badValue, notInManifest, ServerError } from './serverError.ts';
import { compareValues, isDoc, type Doc } from './values.ts';

// mingo declares narrower argument types; prepareExpression has checked the arguments.
type Operator = (obj: Doc, expr: never, options: Options) => unknown;

/**
 * Aggregation comparisons order all types and distinguish a missing field from null. mingo implements those of the
 * query language, which compare within one type: an active lease would look free.
 */
function comparison(holds: (order: number) => boolean): Operator {
  return (obj, expr: unknown, options) => {
    if (!Array.isArray(expr) || expr.length !== 2) throw badValue('A comparison takes exactly two arguments');
    const [a, b] = expr.map((side: unknown) => evalExpr(obj, side, options));
    return holds(compareValues(a, b));
  };
}

const includes: Operator = (obj, expr: unknown, options) => {
  if (!Array.isArray(expr) || expr.length !== 2) throw badValue('$in takes exactly two arguments');
  const [item, list] = expr.map((side: unknown) => evalExpr(obj, side, options));
  if (!Array.isArray(list))
    throw new ServerError(40081, 'Location40081', '$in requires an array as a second argument');
  return list.some((other) => compareValues(item, other) === 0);
};

const operators: Record<(typeof manifest.expressionOperators)[number], Operator> = {
  $literal,
  $mergeObjects,
  $cond: conditions.$cond,
  $ifNull: conditions.$ifNull,
  $and: booleans.$and,
  $or: booleans.$or,
  $not: booleans.$not,
  $add: arithmetic.$add,
  $subtract: arithmetic.$subtract,
  $filter: arrays.$filter,
  $concatArrays: arrays.$concatArrays,
  $size: arrays.$size,
  $in: includes,
  $eq: comparison((order) => order === 0),
  $ne: comparison((order) => order !== 0),
  $gt: comparison((order) => order > 0),
  $gte: comparison((order) => order >= 0),
  $lt: comparison((order) => order < 0),
  $lte: comparison((order) => order <= 0),
};

const expressionContext = Context.init({ expression: operators as Record<string, never> });

export function mingoOptions(context: Context): Options {
  return {
    idKey: '_id',
    processingMode: ProcessingMode.CLONE_OFF,
    useStrictMode: true,
    scriptEnabled: false,
    failOnError: true,
    context,
  };
}

/**
 * Checks an expression against the manifest and substitutes the command's time for `$$NOW`, which never changes
 * during a command.
 */
export function prepareExpression(expr: unknown, now: Date, scope: readonly string[] = []): unknown {
  if (typeof expr === 'string' && expr.startsWith('$$')) {
    const variable = expr.split('.')[0] as string;
    if (variable === '$$NOW') return now;
    if (![...manifest.variables, ...scope].includes(variable))
      throw notInManifest(`the variable ${variable}`);
    return expr;
  }
  if (Array.isArray(expr)) return expr.map((item) => prepareExpression(item, now, scope));
  if (!isDoc(expr)) return expr;
  const operators = Object.keys(expr).filter((key) => key.startsWith('$'));
  const operator = operators[0];
  if (operator === undefined) return mapDoc(expr, (item) => prepareExpression(item, now, scope));
  if (Object.keys(expr).length !== 1) {
    throw new ServerError(
      15983,
      'Location15983',
      'An object representing an expression must have exactly one field',
    );
  }
  if (!(manifest.expressionOperators as readonly string[]).includes(operator)) {
    throw notInManifest(`the expression operator ${operator}`);
  }
  const argument = expr[operator];
  if (operator === '$literal') return expr;
  if (operator === '$filter') return { $filter: prepareFilter(argument, now, scope) };
  if (operator === '$cond' && isDoc(argument)) {
    return { $cond: mapDoc(argument, (item) => prepareExpression(item, now, scope)) };
  }
  return { [operator]: prepareExpression(argument, now, scope) };
}

function prepareFilter(argument: unknown, now: Date, scope: readonly string[]): Doc {
  if (!isDoc(argument) || typeof argument['as'] !== 'string') throw notInManifest("$filter without 'as'");
  const inner = [...scope, `$$${argument['as']}`];
  const { input, cond, as, ...rest } = argument;
  if (Object.keys(rest).length > 0)
    throw notInManifest(`the $filter option '${Object.keys(rest)[0] as string}'`);
  return { input: prepareExpression(input, now, scope), as, cond: prepareExpression(cond, now, inner) };
}

/** Evaluates a prepared expression with one document. */
export function evaluate(doc: Doc, prepared: unknown): unknown {
  try {
    return evalExpr(doc, prepared, mingoOptions(expressionContext));
  } catch (error) {
    throw error instanceof ServerError ? error : badValue((error as Error).message);
  }
}

function mapDoc(doc: Doc, map: (value: unknown) => unknown): Doc {
  return Object.fromEntries(Object.entries(doc).map(([key, value]) => [key, map(value)]));
}

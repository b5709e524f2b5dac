import { z } from 'zod';
import { didYouMean } from './didYouMean.ts';
import { finding, formatPath, type Finding, type Path } from './finding.ts';

export interface KeyReport {
  /** Keys nobody knows: errors, or warnings while migrating. */
  unknown: Finding[];
  /** Keys of LibreChat that have no effect here, each path once. */
  unused: Set<string>;
}

/** Compares the keys of a value with those of its schema. Says nothing about types: the schema does that. */
export function findKeys(schema: unknown, value: unknown, path: Path, report: KeyReport): void {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) {
    if (Array.isArray(value))
      value.forEach((item, index) => findKeys(inner.element, item, [...path, index], report));
    return;
  }
  if (!isMapping(value)) return;
  if (inner instanceof z.ZodRecord) {
    for (const [key, item] of Object.entries(value)) findKeys(inner.valueType, item, [...path, key], report);
  } else if (inner instanceof z.ZodUnion) {
    findKeys(inner.options.find(takesMapping), value, path, report);
  } else if (inner instanceof z.ZodObject) {
    findObjectKeys(inner, value, path, report);
  }
}

function findObjectKeys(
  schema: z.ZodObject,
  value: Record<string, unknown>,
  path: Path,
  report: KeyReport,
): void {
  const known = Object.keys(schema.shape);
  const open = schema.meta()?.keys === 'open';
  for (const [key, item] of Object.entries(value)) {
    const field: unknown = Object.hasOwn(schema.shape, key) ? schema.shape[key] : undefined;
    if (field !== undefined) {
      if (isUnused(field)) report.unused.add(withoutIndexes([...path, key]));
      else findKeys(field, item, [...path, key], report);
    } else if (key.startsWith('x-')) {
      continue;
    } else if (open) {
      report.unused.add(withoutIndexes([...path, key]));
    } else {
      report.unknown.push(finding([...path, key], 'unknown_key', 'unknown key', didYouMean(key, known)));
    }
  }
}

/** The same key in every element of a list is one thing to tell the operator. */
function withoutIndexes(path: Path): string {
  return formatPath(path.filter((step) => typeof step === 'string'));
}

function unwrap(schema: unknown): unknown {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodNullable) {
    inner = inner.unwrap();
  }
  return inner;
}

function takesMapping(schema: unknown): boolean {
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject || inner instanceof z.ZodRecord;
}

function isUnused(schema: unknown): boolean {
  return schema instanceof z.ZodType && schema.meta()?.unused === true;
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { z } from 'zod';
import { didYouMean } from './didYouMean.ts';
import { createFinding, formatPath, type Finding, type Path } from './finding.ts';

export interface KeyReport {
  /** Keys nobody knows: errors, or warnings while migrating. */
  unknown: Finding[];
  /** Keys of LibreChat that have no effect here, each path once. */
  unused: Set<string>;
}

/** Compares the keys of a value with those of its schema. Says nothing about types: the schema does that. */
export function checkKeys(schema: unknown, value: unknown, path: Path, report: KeyReport): void {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) {
    if (Array.isArray(value))
      value.forEach((item, index) => checkKeys(inner.element, item, [...path, index], report));
    return;
  }
  if (!isMapping(value)) return;
  if (inner instanceof z.ZodRecord) {
    for (const [key, item] of Object.entries(value)) checkKeys(inner.valueType, item, [...path, key], report);
  } else if (inner instanceof z.ZodUnion) {
    checkKeys(inner.options.find(acceptsMapping), value, path, report);
  } else if (inner instanceof z.ZodObject) {
    checkObjectKeys(inner, value, path, report);
  }
}

function checkObjectKeys(
  schema: z.ZodObject,
  value: Record<string, unknown>,
  path: Path,
  report: KeyReport,
): void {
  const known = Object.keys(schema.shape);
  const isOpen = schema.meta()?.keys === 'open';
  for (const [key, item] of Object.entries(value)) {
    const field: unknown = Object.hasOwn(schema.shape, key) ? schema.shape[key] : undefined;
    if (field !== undefined) {
      if (isUnused(field)) report.unused.add(withoutIndexes([...path, key]));
      else checkKeys(field, item, [...path, key], report);
    } else if (key.startsWith('x-')) {
      continue;
    } else if (isOpen) {
      report.unused.add(withoutIndexes([...path, key]));
    } else {
      report.unknown.push(
        createFinding([...path, key], 'unknown_key', 'unknown key', didYouMean(key, known)),
      );
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

function acceptsMapping(schema: unknown): boolean {
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject || inner instanceof z.ZodRecord;
}

function isUnused(schema: unknown): boolean {
  return schema instanceof z.ZodType && schema.meta()?.unused === true;
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

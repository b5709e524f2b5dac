import { z } from 'zod';
import { didYouMean } from './didYouMean.ts';
import { type Finding, type Path, createFinding, formatPath } from './finding.ts';

/**
 * A mapping of Behalf: an unknown key is an error, because ignoring a misspelled key would silently disable a
 * feature. zod only drops such keys; `checkKeys` reports them, so that comments (`x-...`) remain possible and a
 * migration can request warnings.
 */
export function section<S extends z.ZodRawShape>(shape: S): z.ZodObject<S> {
  return z.object(shape).meta({ keys: 'closed' });
}

/** A mapping of LibreChat that Behalf reads in part: other keys are reported as unused, not rejected. */
export function openSection<S extends z.ZodRawShape>(shape: S): z.ZodObject<S> {
  return z.object(shape).meta({ keys: 'open' });
}

/** A key of LibreChat without effect in Behalf. */
export function unusedKey(description: string): z.ZodOptional<z.ZodUnknown> {
  return z.unknown().optional().meta({ unused: true, description });
}

/** Parses a value and explains problems in terms of the file, not of the schema library. Never repeats a value. */
export function parseSection<S extends z.ZodType>(
  schema: S,
  value: unknown,
  path: Path,
): { value: z.output<S> } | { findings: Finding[] } {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data };
  return { findings: parsed.error.issues.map((issue) => toFinding(issue, value, path)) };
}

function toFinding(issue: z.core.$ZodIssue, root: unknown, base: Path): Finding {
  const steps = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  const path = [...base, ...steps];
  const actual = valueAt(root, steps);
  switch (issue.code) {
    case 'invalid_type':
      if (actual === undefined)
        return createFinding(path, 'missing', 'is missing', `add ${describeType(issue.expected)}`);
      return createFinding(
        path,
        'wrong_type',
        `must be ${describeType(issue.expected)}, not ${describeValue(actual)}`,
        quotingHint(issue.expected, actual),
      );
    case 'invalid_value': {
      const values = issue.values.map(String);
      const list = values.map((value) => JSON.stringify(value)).join(', ');
      if (actual === undefined) return createFinding(path, 'missing', `is missing: one of ${list}`);
      const suggestion = typeof actual === 'string' ? didYouMean(actual, values) : undefined;
      return createFinding(
        path,
        'wrong_value',
        values.length === 1 ? `must be ${list}` : `must be one of ${list}`,
        suggestion,
      );
    }
    case 'too_small':
      return createFinding(path, 'too_small', `must be ${describeMinimum(issue)}`);
    case 'too_big':
      return createFinding(path, 'too_big', `must be at most ${issue.maximum}${limitUnit(issue.origin)}`);
    case 'invalid_key':
      return createFinding(path, 'invalid_name', issue.issues[0]?.message ?? 'is not a valid name');
    case 'invalid_union': {
      const deepest = issue.errors.flat().find((inner) => inner.path.length > 0);
      if (deepest) return toFinding({ ...deepest, path: [...steps, ...deepest.path] }, root, base);
      const expected = issue.errors
        .flat()
        .flatMap((inner) => (inner.code === 'invalid_type' ? [describeType(inner.expected)] : []));
      return createFinding(
        path,
        'wrong_type',
        expected.length > 0
          ? `must be ${expected.join(' or ')}, not ${describeValue(actual)}`
          : 'has the wrong structure',
      );
    }
    default:
      return createFinding(path, 'wrong_value', issue.message);
  }
}

function describeMinimum(issue: z.core.$ZodIssueTooSmall): string {
  if (issue.origin === 'string') return 'not empty';
  if (issue.origin === 'array') return `a list of at least ${issue.minimum}`;
  return issue.inclusive === false ? `greater than ${issue.minimum}` : `at least ${issue.minimum}`;
}

function limitUnit(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' entries' : '';
}

const typeNames: Record<string, string> = {
  string: 'text',
  // All numbers of the file are integers.
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

function describeType(expected: string): string {
  return typeNames[expected] ?? expected;
}

function describeValue(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number')
    return Number.isInteger(value) ? 'a whole number' : 'a number with a fraction';
  return typeNames[typeof value === 'boolean' ? 'boolean' : typeof value] ?? typeof value;
}

function quotingHint(expected: string, actual: unknown): string | undefined {
  if (expected === 'string' && (typeof actual === 'number' || typeof actual === 'boolean'))
    return 'put it in quotes';
  if ((expected === 'int' || expected === 'number' || expected === 'boolean') && typeof actual === 'string') {
    return 'write it without quotes';
  }
  if (expected === 'array' && typeof actual === 'string') return 'write it as a list: ["..."]';
  return undefined;
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

export interface KeyReport {
  /** Unknown keys: errors, or warnings with `unknownKeys: warn`. */
  unknown: Finding[];
  /** LibreChat keys without effect, without duplicates. */
  unused: Set<string>;
}

/** Compares the keys of a value with its schema. The schema itself checks types. */
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

/** Removes list indexes, so that the same key in every element is reported once. */
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

import type { z } from 'zod';
import { didYouMean } from './didYouMean.ts';
import { createFinding, type Finding, type Path } from './finding.ts';

/** Parses, and says what does not fit in words of the file rather than of the schema library. Never repeats a value. */
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
  // Every number of the file is one.
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

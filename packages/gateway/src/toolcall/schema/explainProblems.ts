import { didYouMean, type Diagnostic } from '@behalf/contracts';
import { createRedactor } from '@behalf/kernel';
import type { ErrorObject } from 'ajv';

const MAX_PROBLEMS = 20;
/** A schema can cause thousands of equal errors, and formatting each takes time. */
const MAX_ERRORS_READ = 200;
/** Longer lists of allowed values do not help. */
const MAX_VALUES = 20;
const MAX_VALUE_LENGTH = 80;
const MAX_INNER_VALUES = 10;
const redactor = createRedactor();

/**
 * Describes the errors so that a model can correct its call. Contains names of fields, but no values of the caller: a value in the
 * wrong field can be a secret.
 */
export function explainProblems(errors: readonly ErrorObject[]): Diagnostic[] {
  const diagnostics = new Map<string, Diagnostic>();
  for (const error of errors.slice(0, MAX_ERRORS_READ)) {
    const diagnostic = toDiagnostic(error);
    if (!diagnostic) continue;
    const key = JSON.stringify([diagnostic.path, diagnostic.message]);
    if (!diagnostics.has(key)) diagnostics.set(key, diagnostic);
    if (diagnostics.size === MAX_PROBLEMS) break;
  }
  if (diagnostics.size > 0) return [...diagnostics.values()];
  return [{ path: 'arguments', code: 'invalid', message: "The arguments do not match the tool's schema." }];
}

function toDiagnostic(error: ErrorObject): Diagnostic | undefined {
  const params = error.params as Record<string, unknown>;
  const path = pathOf(error.instancePath);
  const createDiagnostic = (code: string, message: string, suggestion?: string): Diagnostic => ({
    path,
    code,
    message,
    ...(suggestion !== undefined && { suggestion }),
  });
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired': {
      const missingPath = joinPath(path, String(params['missingProperty']));
      return {
        path: missingPath,
        code: 'missing',
        message: `${missingPath} is required${describeFieldType(error)}.`,
      };
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params['additionalProperty'] ?? params['unevaluatedProperty']);
      const known = Object.keys((error.parentSchema?.['properties'] as object | undefined) ?? {});
      const suggestion = didYouMean(name, known);
      return {
        path: joinPath(path, name),
        code: 'unknown_field',
        message: `${joinPath(path, name)} is not a field of this tool.`,
        ...(suggestion !== undefined && { suggestion }),
      };
    }
    case 'type':
      return createDiagnostic(
        'wrong_type',
        `${path} must be ${formatTypes(params['type'])}${formatReceivedType(error)}.`,
      );
    case 'enum':
      return createDiagnostic(
        'not_allowed',
        `${path} must be one of ${formatValues(params['allowedValues'])}.`,
      );
    case 'const':
      return createDiagnostic('not_allowed', `${path} must be ${formatValues([params['allowedValue']])}.`);
    case 'pattern':
      return createDiagnostic(
        'wrong_form',
        `${path} must match the pattern ${truncate(String(params['pattern']), 200)}.`,
      );
    case 'maximum':
    case 'minimum':
    case 'exclusiveMaximum':
    case 'exclusiveMinimum':
      return createDiagnostic(
        'out_of_range',
        `${path} must be ${String(params['comparison'])} ${String(params['limit'])}.`,
      );
    case 'multipleOf':
      return createDiagnostic(
        'out_of_range',
        `${path} must be a multiple of ${String(params['multipleOf'])}.`,
      );
    case 'maxLength':
    case 'minLength':
    case 'maxItems':
    case 'minItems':
    case 'maxProperties':
    case 'minProperties':
      return createDiagnostic(
        'wrong_size',
        `${path} must have ${formatBound(error.keyword)} ${formatLimit(error)}.`,
      );
    case 'uniqueItems':
      return createDiagnostic('not_unique', `${path} must not hold the same item twice.`);
    case 'anyOf':
    case 'oneOf':
      return createDiagnostic(
        'no_match',
        `${path} matches ${params['passingSchemas'] ? 'more than one' : 'none'} of the allowed schemas.`,
      );
    case 'propertyNames':
      return createDiagnostic('unknown_field', `${path} has a field whose name is not allowed.`);
    // The failed `then` or `else` reports its own error.
    case 'if':
      return undefined;
    default:
      return createDiagnostic('invalid', `${path} does not match "${error.keyword}" of the tool's schema.`);
  }
}

function pathOf(instancePath: string): string {
  const keys = instancePath.split('/').slice(1);
  return keys.reduce(
    (path, key) => joinPath(path, key.replaceAll('~1', '/').replaceAll('~0', '~')),
    'arguments',
  );
}

function joinPath(path: string, key: string): string {
  if (/^[A-Za-z_$][\w$-]{0,63}$/.test(key)) return `${path}.${redactor.text(key)}`;
  if (/^\d{1,9}$/.test(key)) return `${path}[${key}]`;
  return `${path}[${JSON.stringify(truncate(redactor.text(key), 64))}]`;
}

/** The type of a missing field, if the schema declares it. */
function describeFieldType(error: ErrorObject): string {
  const { properties } = error.parentSchema ?? {};
  const name = String((error.params as Record<string, unknown>)['missingProperty']);
  const field = (properties as Record<string, { type?: unknown } | undefined> | undefined)?.[name];
  return field?.type === undefined ? '' : ` (${formatTypes(field.type)})`;
}

function formatTypes(type: unknown): string {
  return (Array.isArray(type) ? type : [type]).map(String).join(' or ');
}

function formatReceivedType({ data }: ErrorObject): string {
  if (data === undefined) return '';
  return `, not ${data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data}`;
}

/** Formats values of the schema. Every caller of the tool can read them. */
function formatValues(allowed: unknown): string {
  const list = Array.isArray(allowed) ? allowed : [];
  const formatted = list.slice(0, MAX_VALUES).map(formatValue);
  if (list.length > MAX_VALUES) formatted.push(`${list.length - MAX_VALUES} more`);
  return formatted.join(', ');
}

/** Describes large objects and arrays instead of formatting them. */
function formatValue(value: unknown): string {
  if (typeof value === 'string')
    return truncate(JSON.stringify(value.slice(0, MAX_VALUE_LENGTH + 1)), MAX_VALUE_LENGTH);
  if (typeof value !== 'object' || value === null) return String(value);
  if (isSmall(value)) return truncate(JSON.stringify(value, truncateStrings), MAX_VALUE_LENGTH);
  return `the ${Array.isArray(value) ? 'array' : 'object'} defined in the schema`;
}

function isSmall(value: object): boolean {
  if (Array.isArray(value) && value.length > MAX_INNER_VALUES) return false;
  let innerCount = 0;
  for (const key in value) {
    const innerValue: unknown = (value as Readonly<Record<string, unknown>>)[key];
    innerCount += 1;
    if (innerCount > MAX_INNER_VALUES || (typeof innerValue === 'object' && innerValue !== null))
      return false;
  }
  return true;
}

function truncateStrings(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? truncate(value, MAX_VALUE_LENGTH) : value;
}

function formatBound(keyword: string): string {
  return keyword.startsWith('min') ? 'at least' : 'at most';
}

function formatLimit({ keyword, params }: ErrorObject): string {
  const limit = String((params as Record<string, unknown>)['limit']);
  return `${limit} ${keyword.endsWith('Length') ? 'characters' : keyword.endsWith('Items') ? 'items' : 'fields'}`;
}

function truncate(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

import { didYouMean, type Diagnostic } from '@behalf/contracts';
import { createRedactor } from '@behalf/kernel';
import type { ErrorObject } from 'ajv';

const MOST_PROBLEMS = 20;
/** A schema can say the same thing thousands of times, and every saying of it is a text to write. */
const MOST_LOOKED_AT = 200;
/** A list of allowed values longer than this helps nobody choose. */
const MOST_VALUES = 20;
const LONGEST_VALUE = 80;
const MOST_INSIDE = 10;
const redactor = createRedactor();

/**
 * What is wrong, field by field, in words that a model can act on. What the caller sent is never repeated, except for
 * the names of fields: a value may be a secret, in the wrong place above all.
 */
export function explainProblems(errors: readonly ErrorObject[]): Diagnostic[] {
  const found = new Map<string, Diagnostic>();
  for (const error of errors.slice(0, MOST_LOOKED_AT)) {
    const diagnostic = explain(error);
    if (!diagnostic) continue;
    const key = JSON.stringify([diagnostic.path, diagnostic.message]);
    if (!found.has(key)) found.set(key, diagnostic);
    if (found.size === MOST_PROBLEMS) break;
  }
  if (found.size > 0) return [...found.values()];
  return [{ path: 'arguments', code: 'invalid', message: "The arguments do not fit the tool's schema." }];
}

function explain(error: ErrorObject): Diagnostic | undefined {
  const params = error.params as Record<string, unknown>;
  const path = pathOf(error.instancePath);
  const say = (code: string, message: string, suggestion?: string): Diagnostic => ({
    path,
    code,
    message,
    ...(suggestion !== undefined && { suggestion }),
  });
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired': {
      const missing = join(path, String(params['missingProperty']));
      return { path: missing, code: 'missing', message: `${missing} is required${described(error)}.` };
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params['additionalProperty'] ?? params['unevaluatedProperty']);
      const known = Object.keys((error.parentSchema?.['properties'] as object | undefined) ?? {});
      const suggestion = didYouMean(name, known);
      return {
        path: join(path, name),
        code: 'unknown_field',
        message: `${join(path, name)} is not a field of this tool.`,
        ...(suggestion !== undefined && { suggestion }),
      };
    }
    case 'type':
      return say('wrong_type', `${path} must be ${types(params['type'])}${received(error)}.`);
    case 'enum':
      return say('not_allowed', `${path} must be one of ${values(params['allowedValues'])}.`);
    case 'const':
      return say('not_allowed', `${path} must be ${values([params['allowedValue']])}.`);
    case 'pattern':
      return say('wrong_form', `${path} must match the pattern ${cut(String(params['pattern']), 200)}.`);
    case 'maximum':
    case 'minimum':
    case 'exclusiveMaximum':
    case 'exclusiveMinimum':
      return say(
        'out_of_range',
        `${path} must be ${String(params['comparison'])} ${String(params['limit'])}.`,
      );
    case 'multipleOf':
      return say('out_of_range', `${path} must be a multiple of ${String(params['multipleOf'])}.`);
    case 'maxLength':
    case 'minLength':
    case 'maxItems':
    case 'minItems':
    case 'maxProperties':
    case 'minProperties':
      return say('wrong_size', `${path} must have ${atLeast(error.keyword)} ${counted(error)}.`);
    case 'uniqueItems':
      return say('not_unique', `${path} must not hold the same item twice.`);
    case 'anyOf':
    case 'oneOf':
      return say(
        'no_match',
        `${path} fits ${params['passingSchemas'] ? 'more than one' : 'none'} of its forms.`,
      );
    case 'propertyNames':
      return say('unknown_field', `${path} has a field whose name is not allowed.`);
    // It only says that another part failed, which is told by itself.
    case 'if':
      return undefined;
    default:
      return say('invalid', `${path} does not fit "${error.keyword}" of the tool's schema.`);
  }
}

function pathOf(instancePath: string): string {
  const keys = instancePath.split('/').slice(1);
  return keys.reduce((path, key) => join(path, key.replaceAll('~1', '/').replaceAll('~0', '~')), 'arguments');
}

function join(path: string, key: string): string {
  if (/^[A-Za-z_$][\w$-]{0,63}$/.test(key)) return `${path}.${redactor.text(key)}`;
  if (/^\d{1,9}$/.test(key)) return `${path}[${key}]`;
  return `${path}[${JSON.stringify(cut(redactor.text(key), 64))}]`;
}

/** What the field is for, when the schema says so: it is what a model needs to fill it in. */
function described(error: ErrorObject): string {
  const { properties } = error.parentSchema ?? {};
  const name = String((error.params as Record<string, unknown>)['missingProperty']);
  const field = (properties as Record<string, { type?: unknown } | undefined> | undefined)?.[name];
  return field?.type === undefined ? '' : ` (${types(field.type)})`;
}

function types(type: unknown): string {
  return (Array.isArray(type) ? type : [type]).map(String).join(' or ');
}

function received({ data }: ErrorObject): string {
  if (data === undefined) return '';
  return `, not ${data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data}`;
}

/** Values of the schema, which everybody who may call the tool may read. */
function values(allowed: unknown): string {
  const list = Array.isArray(allowed) ? allowed : [];
  const shown = list.slice(0, MOST_VALUES).map(brief);
  if (list.length > MOST_VALUES) shown.push(`${list.length - MOST_VALUES} more`);
  return shown.join(', ');
}

/** One that is not a single value may be as large as the whole schema; written out, it would be cut anyway. */
function brief(value: unknown): string {
  if (typeof value === 'string') return cut(JSON.stringify(value.slice(0, LONGEST_VALUE + 1)), LONGEST_VALUE);
  if (typeof value !== 'object' || value === null) return String(value);
  if (isSmall(value)) return cut(JSON.stringify(value, shortened), LONGEST_VALUE);
  return `the ${Array.isArray(value) ? 'array' : 'object'} that the schema names`;
}

function isSmall(value: object): boolean {
  if (Array.isArray(value) && value.length > MOST_INSIDE) return false;
  let inside = 0;
  for (const key in value) {
    const one: unknown = (value as Readonly<Record<string, unknown>>)[key];
    inside += 1;
    if (inside > MOST_INSIDE || (typeof one === 'object' && one !== null)) return false;
  }
  return true;
}

function shortened(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? cut(value, LONGEST_VALUE) : value;
}

function atLeast(keyword: string): string {
  return keyword.startsWith('min') ? 'at least' : 'at most';
}

function counted({ keyword, params }: ErrorObject): string {
  const limit = String((params as Record<string, unknown>)['limit']);
  return `${limit} ${keyword.endsWith('Length') ? 'characters' : keyword.endsWith('Items') ? 'items' : 'fields'}`;
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
